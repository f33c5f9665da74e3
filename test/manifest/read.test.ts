/** Places of values in a file, and the limits of files: each has a name in shared/manifest/limits.ts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aliasesMax, documentsMax, fileBytesMax, fileDepthMax, valuesMax } from '../../shared/manifest/limits.ts';
import type { Path } from '../../shared/manifest/manifest.ts';
import { readFile } from '../../shared/manifest/read.ts';

function documentsOf(text: string) {
  const read = readFile(text);
  assert.ok(read.kind === 'read', JSON.stringify(read));
  return read.documents;
}

function refusalOf(text: string): string {
  const read = readFile(text);
  assert.ok(read.kind === 'unreadable');
  const [first] = read.problems;
  return `${first?.line}:${first?.column} ${first?.detail}`;
}

describe('the place of a value', () => {
  const text = `# first
a: &common
  b: 1
list:
  - x
  - {"deep": [1,
      2]}
alias: *common
merged:
  <<: *common
  c: 2
---
second: é🙂
after: 1
`;
  const rows: readonly (readonly [Path, string])[] = [
    [[], '2:1'],
    [['a'], '2:1'],
    [['a', 'b'], '3:3'],
    [['list', 0], '5:5'],
    [['list', '1', 'deep'], '6:6'],
    [['list', 1, 'deep', 1], '7:7'],
    [['alias', 'b'], '3:3'],
    [['merged', 'c'], '11:3'],
    [['merged', 'b'], '9:1'],
    [['a', 'none', 'deeper'], '2:1'],
    [['list', 7], '4:1'],
    [['list', 'length'], '4:1'],
    [['constructor'], '2:1'],
  ];
  for (const [path, expected] of rows)
    test(`${JSON.stringify(path)} is ${expected}`, () => {
      const place = documentsOf(text)[0]?.placeOf(path);
      assert.equal(`${place?.line}:${place?.column}`, expected);
    });

  test('is counted from the beginning of the file in each document', () => {
    assert.deepEqual(documentsOf(text)[1]?.placeOf(['after']), { line: 14, column: 1 });
  });

  test('is right with the line ends of Windows', () => {
    assert.deepEqual(documentsOf(text.replaceAll('\n', '\r\n'))[0]?.placeOf(['list', 0]), { line: 5, column: 5 });
  });
});

describe('documents', () => {
  test('that are empty, or null, or comments do not count', () => {
    assert.deepEqual(
      documentsOf('\n---\n# none\n---\nnull\n---\n1\n---\n').map(({ value }) => value),
      [1],
    );
    assert.deepEqual(documentsOf(''), []);
    assert.deepEqual(
      documentsOf('﻿a: 1').map(({ value }) => value),
      [{ a: 1 }],
    );
  });

  test('have merge keys, and keys that are texts', () => {
    assert.deepEqual(documentsOf('a: &a {x: 1, y: 1}\nb: {<<: *a, y: 2}\n3: three')[0]?.value, {
      a: { x: 1, y: 1 },
      b: { x: 1, y: 2 },
      3: 'three',
    });
  });

  test('may use anchors', () => {
    const uses = (count: number) => `a: &a 1\nb: [${Array(count).fill('*a').join(', ')}]`;
    assert.equal(documentsOf(uses(aliasesMax - 1)).length, 1);
    assert.match(refusalOf(uses(aliasesMax + 1)), /^1:1 Excessive alias count/);
  });
});

describe('a file is refused as a whole', () => {
  const rows = [
    ['with too many bytes', `a: ${'x'.repeat(fileBytesMax)}`, `1:1 has more than ${fileBytesMax} bytes`],
    ['with too many documents', '---\n'.repeat(documentsMax + 1), `1:1 has more than ${documentsMax} documents`],
    [
      'that nests too deep',
      `x: 1\n---\n${'['.repeat(fileDepthMax + 1)}${']'.repeat(fileDepthMax + 1)}`,
      `3:1 nests deeper than ${fileDepthMax}`,
    ],
    ['that nests deeper than the stack', '['.repeat(100_000), '1:'],
    ['of a mistake in the last document', 'a: 1\n---\nb: [', '3:5 '],
    ['with tabs', 'a:\n\tb: 1', '2:1 '],
  ] as const;
  for (const [what, text, expected] of rows)
    test(what, () => assert.ok(refusalOf(text).startsWith(expected), refusalOf(text).slice(0, 200)));

  test('whose aliases make too many values of few', () => {
    const leaf = `[${Array(1_000).fill(1).join(', ')}]`;
    const uses = Array(40).fill('*b').join(', ');
    const text = `a: &a ${leaf}\nb: &b [${Array(24).fill('*a').join(', ')}]\nc: &c [${uses}]\nd: [*c, *c, *c]`;
    assert.match(refusalOf(text), new RegExp(`Excessive alias count|more than ${valuesMax} values`));
  });
});
