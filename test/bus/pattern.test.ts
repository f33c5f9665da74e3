import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compilePattern, InvalidPattern, patternCharsMax } from '../../shared/bus/pattern.ts';
import type { Json } from '../../shared/lib/json.ts';

type Row = readonly [what: string, pattern: unknown, event: Json, matches: boolean];

/** Behaviour as the EventBridge user guide and its content-filtering page state it. */
const rows: readonly Row[] = [
  ['exact string', { source: ['probelet'] }, { source: 'probelet' }, true],
  ['exact string is case-sensitive', { source: ['Probelet'] }, { source: 'probelet' }, false],
  ['one of several', { a: ['x', 'y'] }, { a: 'y' }, true],
  ['every named field must match', { a: ['x'], b: ['y'] }, { a: 'x' }, false],
  ['fields not named do not matter', { a: ['x'] }, { a: 'x', b: 1 }, true],
  ['number', { a: [1] }, { a: 1 }, true],
  ['number is not its text', { a: [1] }, { a: '1' }, false],
  ['true', { a: [true] }, { a: true }, true],
  ['null matches null', { a: [null] }, { a: null }, true],
  ['null is not absent', { a: [null] }, {}, false],
  ['empty string matches itself', { a: [''] }, { a: '' }, true],
  ['nested detail', { detail: { target: { name: ['n'] } } }, { detail: { target: { name: 'n' } } }, true],
  ['nested detail, other value', { detail: { target: { name: ['n'] } } }, { detail: { target: { name: 'm' } } }, false],
  ['nested pattern against a scalar', { detail: { a: ['n'] } }, { detail: 'n' }, false],
  ['inherited names are not fields', { constructor: [{ exists: true }] }, {}, false],
  ['an array in the event: any element', { a: ['x'] }, { a: ['w', 'x'] }, true],
  ['an array in the event: none', { a: ['x'] }, { a: ['w', 'v'] }, false],
  ['arrays in arrays are looked through', { a: ['x'] }, { a: [['x']] }, true],
  ['objects in an array: one must satisfy all', { a: { b: [1], c: [2] } }, { a: [{ b: 1, c: 2 }] }, true],
  [
    'objects in an array: not each another',
    { a: { b: [1], c: [2] } },
    {
      a: [
        { b: 1, c: 3 },
        { b: 3, c: 2 },
      ],
    },
    false,
  ],
  ['prefix', { a: [{ prefix: 'pro' }] }, { a: 'probelet' }, true],
  ['prefix, other', { a: [{ prefix: 'pro' }] }, { a: 'a-pro' }, false],
  ['prefix of a number', { a: [{ prefix: '1' }] }, { a: 12 }, false],
  ['prefix ignoring case', { a: [{ prefix: { 'equals-ignore-case': 'PRO' } }] }, { a: 'probelet' }, true],
  ['suffix', { a: [{ suffix: '.png' }] }, { a: 'x.png' }, true],
  ['suffix, other', { a: [{ suffix: '.png' }] }, { a: 'x.png.gz' }, false],
  ['suffix ignoring case', { a: [{ suffix: { 'equals-ignore-case': '.PNG' } }] }, { a: 'x.png' }, true],
  ['equals-ignore-case', { a: [{ 'equals-ignore-case': 'AbC' }] }, { a: 'aBc' }, true],
  ['equals-ignore-case, other', { a: [{ 'equals-ignore-case': 'AbC' }] }, { a: 'abcd' }, false],
  ['wildcard', { a: [{ wildcard: 'dir/*.png' }] }, { a: 'dir/x.png' }, true],
  ['wildcard for nothing', { a: [{ wildcard: 'dir/*.png' }] }, { a: 'dir/.png' }, true],
  ['wildcard at both ends', { a: [{ wildcard: '*b*' }] }, { a: 'abc' }, true],
  ['wildcard parts do not overlap', { a: [{ wildcard: 'ab*ba' }] }, { a: 'aba' }, false],
  ['wildcard middle parts in order', { a: [{ wildcard: '*x*y*' }] }, { a: 'yx' }, false],
  ['wildcard middle may not reach into the end', { a: [{ wildcard: '*ab*b' }] }, { a: 'ab' }, false],
  ['wildcard alone', { a: [{ wildcard: '*' }] }, { a: '' }, true],
  ['wildcard without star', { a: [{ wildcard: 'x' }] }, { a: 'xy' }, false],
  ['wildcard escaped star', { a: [{ wildcard: 'a\\*b' }] }, { a: 'a*b' }, true],
  ['wildcard escaped star is no star', { a: [{ wildcard: 'a\\*b' }] }, { a: 'axb' }, false],
  ['wildcard escaped backslash', { a: [{ wildcard: 'a\\\\*' }] }, { a: 'a\\b' }, true],
  ['anything-but', { a: [{ 'anything-but': 'x' }] }, { a: 'y' }, true],
  ['anything-but, itself', { a: [{ 'anything-but': 'x' }] }, { a: 'x' }, false],
  ['anything-but an absent field', { a: [{ 'anything-but': 'x' }] }, {}, false],
  ['anything-but strings', { a: [{ 'anything-but': ['x', 'y'] }] }, { a: 'y' }, false],
  ['anything-but numbers', { a: [{ 'anything-but': [1, 2] }] }, { a: 3 }, true],
  ['anything-but a number, as number', { a: [{ 'anything-but': 1 }] }, { a: 1 }, false],
  ['anything-but with some other element', { a: [{ 'anything-but': ['x'] }] }, { a: ['x', 'y'] }, true],
  ['anything-but prefix', { a: [{ 'anything-but': { prefix: 'x' } }] }, { a: 'xy' }, false],
  ['anything-but prefix, other', { a: [{ 'anything-but': { prefix: 'x' } }] }, { a: 'yx' }, true],
  ['anything-but prefixes', { a: [{ 'anything-but': { prefix: ['x', 'y'] } }] }, { a: 'yx' }, false],
  ['anything-but suffix', { a: [{ 'anything-but': { suffix: '.png' } }] }, { a: 'a.png' }, false],
  ['anything-but suffixes', { a: [{ 'anything-but': { suffix: ['.png', '.jpg'] } }] }, { a: 'a.gif' }, true],
  ['anything-but ignoring case', { a: [{ 'anything-but': { 'equals-ignore-case': ['X', 'Y'] } }] }, { a: 'y' }, false],
  ['anything-but wildcard', { a: [{ 'anything-but': { wildcard: '*/x/*' } }] }, { a: 'a/x/b' }, false],
  ['anything-but wildcards', { a: [{ 'anything-but': { wildcard: ['a*', 'b*'] } }] }, { a: 'cb' }, true],
  ['numeric =', { a: [{ numeric: ['=', 3] }] }, { a: 3 }, true],
  ['numeric <', { a: [{ numeric: ['<', 3] }] }, { a: 3 }, false],
  ['numeric <=', { a: [{ numeric: ['<=', 3] }] }, { a: 3 }, true],
  ['numeric range, inside', { a: [{ numeric: ['>', 0, '<=', 5] }] }, { a: 5 }, true],
  ['numeric range, at the open end', { a: [{ numeric: ['>', 0, '<=', 5] }] }, { a: 0 }, false],
  ['numeric of a text', { a: [{ numeric: ['>', 0] }] }, { a: '1' }, false],
  ['exists', { a: [{ exists: true }] }, { a: null }, true],
  ['exists, absent', { a: [{ exists: true }] }, { b: 1 }, false],
  ['not exists', { a: [{ exists: false }] }, { b: 1 }, true],
  ['not exists, present', { a: [{ exists: false }] }, { a: 'x' }, false],
  ['not exists below an absent object', { a: { b: [{ exists: false }] } }, {}, true],
  ['exists sees leaves only', { a: [{ exists: true }] }, { a: { b: 1 } }, false],
  ['absent or a value', { a: [{ exists: false }, 'x'] }, { a: 'x' }, true],
  ['$or, first', { $or: [{ a: ['x'] }, { b: ['y'] }] }, { a: 'x' }, true],
  ['$or, second', { $or: [{ a: ['x'] }, { b: ['y'] }] }, { b: 'y' }, true],
  ['$or, none', { $or: [{ a: ['x'] }, { b: ['y'] }] }, { a: 'y', b: 'x' }, false],
  ['$or beside a field', { c: [1], $or: [{ a: ['x'] }, { b: ['y'] }] }, { a: 'x', c: 2 }, false],
  [
    '$or in detail, with operators',
    { detail: { $or: [{ n: [{ numeric: ['>', 1] }] }, { s: [{ prefix: 'x' }] }] } },
    { detail: { n: 0, s: 'xy' } },
    true,
  ],
  ['$or in $or', { $or: [{ a: ['x'] }, { $or: [{ b: ['y'] }, { c: ['z'] }] }] }, { c: 'z' }, true],
];

describe('event patterns', () => {
  for (const [what, pattern, event, matches] of rows)
    test(`${what}: ${matches ? 'matches' : 'does not match'}`, () =>
      assert.equal(compilePattern(pattern)(event), matches));
});

const invalidRows: readonly (readonly [what: string, pattern: unknown, pointer: string, reason: RegExp])[] = [
  ['not an object', 'x', '', /must be an object/],
  ['nothing', undefined, '', /must be an object/],
  ['an empty object', {}, '', /empty objects/],
  ['an empty object below', { detail: {} }, '/detail', /empty objects/],
  ['a scalar where a list belongs', { a: 'x' }, '/a', /must be an object or a non-empty array/],
  ['an empty list', { a: [] }, '/a', /empty arrays/],
  ['a list in a list', { a: [['x']] }, '/a/0', /literal or an object/],
  ['an unknown operator', { a: [{ like: 'x' }] }, '/a/0', /unrecognized match type like/],
  ['cidr', { a: [{ cidr: '10.0.0.0/24' }] }, '/a/0', /unrecognized match type cidr/],
  ['two operators in one', { a: [{ prefix: 'x', suffix: 'y' }] }, '/a/0', /only one key/],
  ['a prefix that is no string', { a: [{ prefix: 1 }] }, '/a/0', /prefix must be/],
  ['an empty suffix', { a: [{ suffix: '' }] }, '/a/0', /suffix must be/],
  ['exists with a text', { a: [{ exists: 'no' }] }, '/a/0', /exists must be/],
  ['anything-but mixed', { a: [{ 'anything-but': ['x', 1] }] }, '/a/0', /anything-but must be/],
  ['anything-but empty', { a: [{ 'anything-but': [] }] }, '/a/0', /anything-but must be/],
  ['anything-but with a foreign operator', { a: [{ 'anything-but': { exists: true } }] }, '/a/0', /unrecognized/],
  ['numeric with a foreign comparison', { a: [{ numeric: ['!=', 1] }] }, '/a/0', /numeric must be/],
  ['numeric with a text', { a: [{ numeric: ['>', '1'] }] }, '/a/0', /numeric must be/],
  ['numeric range upside down', { a: [{ numeric: ['>', 5, '<', 1] }] }, '/a/0', /numeric must be/],
  ['numeric out of range', { a: [{ numeric: ['>', 6e9] }] }, '/a/0', /numeric must be/],
  ['two stars', { a: [{ wildcard: 'a**' }] }, '/a/0', /consecutive/],
  ['a stray escape', { a: [{ wildcard: 'a\\b' }] }, '/a/0', /may be escaped/],
  ['$or of one', { $or: [{ a: [1] }] }, '/$or', /at least two/],
  ['a name with a slash, as pointer', { 'a/b': [] }, '/a~1b', /empty arrays/],
  ['too long', { a: ['x'.repeat(patternCharsMax)] }, '', /longer than/],
];

describe('a pattern that EventBridge would not take is refused with its place', () => {
  for (const [what, pattern, pointer, reason] of invalidRows)
    test(what, () =>
      assert.throws(
        () => compilePattern(pattern),
        (error) => error instanceof InvalidPattern && error.pointer === pointer && reason.test(error.message),
      ),
    );
});

test('a wildcard agrees with the regular expression it stands for', () => {
  const char = fc.constantFrom('a', 'b', '*');
  fc.assert(
    fc.property(
      fc.array(char, { minLength: 1, maxLength: 8 }),
      fc.string({ unit: fc.constantFrom('a', 'b') }),
      (chars, text) => {
        const pattern = chars.join('').replace(/\*+/g, '*');
        const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 's').test(text);
        assert.equal(compilePattern({ a: [{ wildcard: pattern }] })({ a: text }), expected);
      },
    ),
  );
});
