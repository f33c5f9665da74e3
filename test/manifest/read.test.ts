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
    assert.equal(documentsOf(uses(aliasesMax)).length, 1);
    assert.match(refusalOf(uses(aliasesMax + 1)), /^1:1 uses anchors 1001 times: a document may 1000 times/);
  });

  test('may use anchors within anchors as often as others', () => {
    const leaves = Array(100).fill('*leaf').join(', ');
    const outer = Array(aliasesMax - 100)
      .fill('*outer')
      .join(', ');
    const [document] = documentsOf(`leaf: &leaf {a: 1}\nouter: &outer [${leaves}]\nall: [${outer}]`);
    const { all = [] } = (document?.value ?? {}) as { readonly all?: readonly (readonly unknown[])[] };
    assert.equal(all.length, aliasesMax - 100);
    assert.deepEqual(all[0]?.[99], { a: 1 });
  });

  test('may have merge keys with their tag, as yq and programs in Go write them', () => {
    const value = { a: { x: 1, y: 1 }, b: { x: 1, y: 2 } };
    assert.deepEqual(documentsOf('a: &a {x: 1, y: 1}\nb:\n  !!merge <<: *a\n  y: 2')[0]?.value, value);
    assert.deepEqual(documentsOf('a: &a {x: 1, y: 1}\nb: {!!merge <<: [*a], y: 2}')[0]?.value, value);
    assert.match(refusalOf('!!int 1: a'), /all keys must be strings/);
  });

  const streams = [
    ['a line each', '{"a": 1}\n{"b": "}{"}\n'],
    ['without a space between them', '{"a": 1}{"b": "}{"}'],
    ['over several lines, as kubectl and jq write them', '{\n  "a": 1\n}\n\n{\n  "b": "}{"\n}'],
    ['with escaped quotation marks in the line before', '{"a": 1}\t{"b": "}{"}'],
  ] as const;
  for (const [what, text] of streams)
    test(`may be values of JSON ${what}`, () =>
      assert.deepEqual(
        documentsOf(text).map(({ value }) => value),
        [{ a: 1 }, { b: '}{' }],
      ));

  test('of JSON have their places in the file', () => {
    const second = documentsOf('{"a": 1}\n  {\n "b": [1,\n 2]}')[1];
    assert.deepEqual(second?.placeOf([]), { line: 2, column: 3 });
    assert.deepEqual(second?.placeOf(['b', 1]), { line: 4, column: 2 });
    assert.match(refusalOf('{"a": 1}\n{"b": }}'), /^2:/);
    assert.match(refusalOf('{"a": 1}\n{"b": "x}'), /^[12]:/);
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

  const list = (item: string, count: number) => `[${Array(count).fill(item).join(', ')}]`;
  const bombs = [
    [
      'lists of lists',
      [...Array(8).keys()].map((at) => `x${at + 1}: &x${at + 1} ${list(`*x${at}`, 10)}`).join('\n'),
      '[1]',
    ],
    [
      'merge keys, each of which is read again',
      [...Array(40).keys()].map((at) => `x${at + 1}: &x${at + 1} {<<: [*x${at}, *x${at}], k${at}: 1}`).join('\n'),
      '{a: 1}',
    ],
    [
      'a large object that is merged often',
      `all: ${list('{<<: *x0}', 900)}`,
      `{${[...Array(3_000).keys()].map((key) => `k${key}: 1`).join(', ')}}`,
    ],
    ['an object within itself', 'x1: 1', '{a: *x0}'],
    ['a merge of an object into itself', 'x1: 1', '{a: {<<: *x0}}'],
  ] as const;
  for (const [what, text, first] of bombs)
    test(`whose aliases make too many values of few: ${what}`, () => {
      const begunMs = performance.now();
      assert.match(
        refusalOf(`x0: &x0 ${first}\n${text}`),
        new RegExp(`more than ${valuesMax} values|deeper than|not resolved`),
      );
      assert.ok(performance.now() - begunMs < 5_000);
    });
});

describe('one slip is one error', () => {
  const lines = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => text(i)).join('');
  const rows: readonly (readonly [what: string, text: string])[] = [
    ['a brace that is never closed', `metadata: { name: web\n${lines(20, (i) => `k${i}: [a, b]\n`)}`],
    ['a bracket on each line', lines(20, (i) => `k${i}: [a, b\n`)],
    ['a quote that is never closed', `a: "b\n${lines(20, (i) => `k${i}: "c"\n`)}`],
    ['a list whose members are not indented', lines(20, (i) => `- name: x${i}\n value: "a" b\n`)],
    [
      'a key too far left',
      'metadata:\n  name: web\n labels:\n    app: web\nspec:\n  host: a\n   containers:\n    - x: 1\n',
    ],
  ];
  for (const [what, text] of rows)
    test(what, () => {
      const read = readFile(text);
      assert.equal(read.kind === 'unreadable' ? read.problems.length : 0, 1);
    });

  test('of each document, beside the keys that stand twice before it', () => {
    const read = readFile('a: 1\na: 2\nb: [\n---\nc: {\n');
    const problems = read.kind === 'unreadable' ? read.problems : [];
    assert.deepEqual(
      problems.map(({ line, detail }) => `${line} ${detail.split(' ').slice(0, 3).join(' ')}`),
      ['2 Map keys must', '4 Flow sequence in', '6 Flow map in'],
    );
  });
});

describe('what is wrong with a file is said without what it has', () => {
  // As in a file that has nothing to do with the folder, to which a link leads.
  const text = 'hunter2-hunter2';
  const rows: Readonly<Record<string, string>> = {
    'a map in a line': `a: b: ${text}`,
    'a list that is never closed': `${text}: [`,
    'a text behind a list': `- a\n${text}`,
    'an alias without an anchor': `a: *${text}`,
    'an alias before its anchor': `a: *${text}\nb: &${text} 1`,
    'an anchor that is merged into itself': `a: &${text}\n  <<: *${text}`,
    'a merge of a text': `<<: ${text}`,
    'a tag': `a: !${text} 1\nb: [`,
    'a tag of another type': `a: !!map ${text}\nb: [`,
    'a quote that is never closed': `"${text}`,
    'a single quote that is never closed': `'${text}`,
    'a key that stands twice': `? ${text}\n: 1\n? ${text}\n: 2`,
    'a key of JSON that stands twice': `{"${text}": 1, "${text}": 2}`,
    'a version': `%YAML ${text}\n---\na: 1`,
    'a directive': `%${text} a\n---\na: [`,
    'a prefix of tags': `%TAG ${text}\n---\na`,
    'a header of a block': `a: |${text}\n  x`,
    'two anchors': `a: &${text} &${text} 1`,
    'an alias with an anchor': `a: &${text} *b`,
    'an escape that is none': `a: "\\${text}"`,
    'a map that is never closed': `{${text}`,
    'a bracket too many': `[${text}]]`,
    'a tab': `a:\n\t${text}`,
    'an end of a document': `a: 1\n...${text}`,
    'a document on its own line': `--- ${text}: 1`,
    'a key that is a list': `? [${text}]\n: 1`,
    'a character that is reserved': `@${text}`,
  };
  for (const [what, file] of Object.entries(rows))
    test(what, () => {
      const read = readFile(file);
      const problems = read.kind === 'unreadable' ? read.problems : [];
      assert.ok(
        problems.length > 0 && problems.every(({ detail }) => detail.length > 10 && !detail.includes('hunter2')),
        JSON.stringify(problems),
      );
    });

  test('an alias is known by its place', () => {
    assert.equal(refusalOf('a: 1\n---\nb:\n  - *c\n'), '4:5 an alias needs an anchor of its name before it');
  });
});
