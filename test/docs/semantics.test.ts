/** Each row of docs/semantics.md names what proves it, and that exists. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { codeSpansOf, tableRowsOf } from '../support/markdown.ts';
import { namedTestProblems } from '../support/named-tests.ts';

const root = join(import.meta.dirname, '../..');
const rows = tableRowsOf(readFileSync(join(root, 'docs/semantics.md'), 'utf8'));

describe('docs/semantics.md', () => {
  test('has rows', () => assert.ok(rows.length > 50));

  test('names in each row a test that exists', () => {
    const wrong = rows.flatMap((row) => namedTestProblems(row.at(-1) ?? '').map((problem) => `${row[0]}: ${problem}`));
    assert.deepEqual(wrong, []);
  });

  test('names every file of vectors', () => {
    const named = new Set(rows.flatMap((row) => codeSpansOf(row.at(-1) ?? '')));
    const vectors = new URL('../conformance/vectors', import.meta.url);
    const files = readdirSync(vectors).map((file) => file.replace(/\.jsonl(\.gz)?$/, ''));
    assert.ok(files.includes('worker-named'));
    assert.deepEqual(
      files.filter((file) => !named.has(`${file}.jsonl`)),
      [],
    );
  });

  test('numbers the differences one after the other, each with its decision', () => {
    const numbers = rows.filter((row) => (row[2] ?? '').includes('](adr/')).map(([number]) => Number(number));
    assert.ok(numbers.length >= 10);
    assert.deepEqual(
      numbers,
      numbers.map((_, at) => at + 1),
    );
  });
});
