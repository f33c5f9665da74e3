/**
 * No text makes a regular expression of the product take more than linear time. The list beside this file says so of
 * each, and is made again here: an expression that is new, changed or not linear fails the comparison.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { expressionsIn, foundExpressions, listed, listPath, proofOf } from '../support/regular-expressions.ts';

/**
 * A proof is of one search. Where each search starts behind the last match (flags g and y), a match that looks far
 * beyond its own end would make all of them together quadratic. These have been read for it, and why they do not.
 */
const repeatedSearches: Readonly<Record<string, string>> = {
  '/(^|[ \\t\\n;])#[^\\n]*/g': 'matches all that it has read',
  '/\\{\\w+\\}/g': 'stops at the first character that is no letter',
  '/\\{(\\w+)\\}/g': 'stops at the first character that is no letter',
  '/[ \\t\\r\\n]*(?:(==|!=|[=!(),])|([^ \\t\\r\\n=!(),<>]+))/y': 'is searched no further once it has not matched',
  '/\\d+|./gs': 'matches all that it has read',
  '/\\d{0,4}[SFE]/g': 'looks at no more than four digits',
  '/(^|-)[a-z]/g': 'is of constant length',
  '/\\\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(.))/gs': 'is of constant length',
  '/[A-Z]+/g': 'matches all that it has read',
  '/\\W/g': 'is of constant length',
  '/%([0-9a-fA-F]{2})/g': 'is of constant length',
  '/[\\r\\n]/g': 'is of constant length',
  '/[\\p{Cc}\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\u00ad\\u200b\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]/gu':
    'is of constant length',
  '/[\\\\`*_~|<>[\\](){}#@!]|:(?=\\/\\/)|www(?=\\.)/gi': 'looks at no more than two characters beyond',
  '/[^\\x20-\\x7e]/g': 'is of constant length',
  '/["\\\\]/g': 'is of constant length',
  '/\\\\(.)/gs': 'is of constant length',
  '/["\\\\]|[^ -~]/gu': 'is of constant length',
  '/\\p{M}/gu': 'is of constant length',
  '/"(?:[^"\\\\]|\\\\.)*"?|[{}[\\]]|[^\\s{}[\\]"]+/gs': 'matches all that it has read',
  '/\'[^\']*\'?|"(?:[^"\\\\]|\\\\.)*"?/g': 'matches all that it has read',
  '/\\$\\([^()]*\\)?/g': 'matches all that it has read',
  '/\\/\\/[^\\s/?#]*@/g': 'begins at two slashes, and reads no further than the next',
};

const { expressions, made } = foundExpressions();
const isRepeated = (text: string): boolean => /[gy]/.test(text.slice(text.lastIndexOf('/')));

describe('a regular expression of the product', () => {
  test('is in the list, with its proof (npm exec -- node test/support/regular-expressions.ts)', async () => {
    assert.ok(expressions.length > 50);
    assert.deepEqual(readFileSync(listPath, 'utf8').split('\n'), (await listed(expressions)).split('\n'));
  });

  test('is proven to take at most linear time', () => {
    const lines = readFileSync(listPath, 'utf8').trimEnd().split('\n');
    assert.deepEqual(
      lines.filter((line) => !/ {2}(constant|linear)$/.test(line)),
      [],
    );
  });

  test('that is searched again behind each match has been read for what it looks at beyond it', () => {
    const found = new Set(expressions.map(({ text }) => text).filter(isRepeated));
    assert.deepEqual([...found].sort(), Object.keys(repeatedSearches).sort());
  });

  test('is written down, not made from a text', () => {
    assert.deepEqual(made, []);
  });
});

describe('what is held against this', () => {
  test('expressions are found wherever they stand', () => {
    const source =
      "const a = /a+/g; new RegExp('b'); RegExp(c); const d = z.string().regex(/d$/); z.iso.datetime(); z.email();";
    const found = expressionsIn('some.ts', source);
    assert.deepEqual(found.expressions.slice(0, 2), [
      { path: 'some.ts', text: '/a+/g' },
      { path: 'some.ts', text: '/d$/' },
    ]);
    assert.match(found.expressions[2]?.text ?? '', /^\/\^.*T.*\$\/$/);
    assert.deepEqual(found.made, ["some.ts: new RegExp('b')", 'some.ts: RegExp(c)', 'some.ts: z.email()']);
  });

  test('one that is not linear is not proven', async () => {
    const proof = await proofOf();
    const rows = [
      '/^(a+)+$/',
      '/\\s+$/',
      '/a.*b/',
      '/^(a|a)*$/',
      '/^\\s*(.*?)\\s*$/',
      '/(x+x+)+y/',
      '/^b|a+c/',
      '/^(b)|a+c/',
      '/^a+$|a+c/',
      '/^(a|aa)+$/',
      '/^\\s+b/m',
    ];
    assert.deepEqual(
      rows.map(proof),
      rows.map(() => 'not linear'),
    );
    assert.deepEqual(['/^a+(?=b)/', '/^(a+)\\1$/'].map(proof), ['unknown', 'unknown']);
    assert.deepEqual(['/^a+$/', '/^[ab]{1,9}$/'].map(proof), ['linear', 'constant']);
  });
});
