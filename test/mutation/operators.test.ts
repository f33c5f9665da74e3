import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nameOf } from './mutant.ts';
import { mutantsOf } from './operators.ts';

const changesOf = (source: string) =>
  mutantsOf('x.ts', source).map(
    ({ start, end, replacement }) => source.slice(0, start) + replacement + source.slice(end),
  );

describe('mutants of', () => {
  for (const [what, source, changed] of [
    ['a comparison', 'f(a < b);', ['f(a <= b);', 'f(a >= b);', ';']],
    ['both operators of a logical expression', 'f(a && b || c);', ['f(a || b || c);', 'f(a && b && c);', ';']],
    ['a nullish default', 'f(a ?? b);', ['f((a));', ';']],
    ['a condition', 'const x = a ? b : c;', ['const x = true ? b : c;', 'const x = false ? b : c;']],
    ['a limit', 'const x = 5_000;', ['const x = 0;', 'const x = 50000;']],
    ['a count', 'const x = 3;', ['const x = 2;', 'const x = 4;']],
    ['an answer', 'const f = () => [a];', ['const f = () => [];']],
    ['a verdict', 'const f = () => !a;', ['const f = () => (a);', 'const f = () => !(!a);']],
    ['a method with an opposite', 'const x = a.some(b);', ['const x = a.every(b);']],
    ['text, which is put together by a plus', "const x = 'a' + b;", []],
    ['types', 'type X = 1 | 2; const x = a as 1;', []],
    ['what an object inherits', 'const x = a.constructor;', []],
  ] as const)
    test(what, () => assert.deepEqual(changesOf(source).toSorted(), [...changed].toSorted()));
});

test('a mutant is named by its place', () => {
  const [mutant] = mutantsOf('shared/core/x.ts', '/** é */\nconst x = 3;\n');
  assert.equal(mutant && nameOf(mutant), 'shared/core/x.ts:2:11 constant: 3 -> 2');
});
