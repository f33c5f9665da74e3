/** Each row of docs/semantics.md names what proves it, and that exists. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { codeSpansOf, tableRowsOf } from '../support/markdown.ts';

const root = join(import.meta.dirname, '../..');
const rows = tableRowsOf(readFileSync(join(root, 'docs/semantics.md'), 'utf8'));

/** What a file offers as names: those of its vectors, or every string that it quotes. */
function hasName(file: string, name: string): boolean {
  if (file.endsWith('.jsonl')) return vectorNames(file).has(name);
  const source = readFileSync(join(root, file), 'utf8');
  return ["'", '"', '`'].some((quote) => source.includes(`${quote}${name}${quote}`));
}

const vectorPath = (file: string): string => join(root, 'test/conformance/vectors', `${file}.gz`);

function vectorNames(file: string): ReadonlySet<string> {
  const lines = gunzipSync(readFileSync(vectorPath(file)))
    .toString('utf8')
    .split('\n');
  return new Set(
    lines.filter((line) => line !== '').map((line) => (JSON.parse(line) as { readonly name: string }).name),
  );
}

const isFile = (code: string): boolean => /^test\/\S+\.ts$/.test(code) || /^[a-z0-9-]+\.jsonl$/.test(code);
const exists = (file: string): boolean => existsSync(file.endsWith('.jsonl') ? vectorPath(file) : join(root, file));

/** What is wrong with the last cell of a row. */
function troublesOf(cell: string): readonly string[] {
  const codes = codeSpansOf(cell);
  if (!codes.some(isFile)) return ['names no test'];
  let file = '';
  return codes.flatMap((code) => {
    if (isFile(code)) {
      file = code;
      return exists(code) ? [] : [`${code} does not exist`];
    }
    if (file === '') return [`${code} stands before its file`];
    return exists(file) && !hasName(file, code) ? [`${file} has no ${code}`] : [];
  });
}

describe('docs/semantics.md', () => {
  test('has rows', () => assert.ok(rows.length > 50));

  test('names in each row a test that exists', () => {
    const wrong = rows.flatMap((row) => troublesOf(row.at(-1) ?? '').map((trouble) => `${row[0]}: ${trouble}`));
    assert.deepEqual(wrong, []);
  });

  test('names every file of vectors', () => {
    const named = new Set(rows.flatMap((row) => codeSpansOf(row.at(-1) ?? '')));
    const families = ['worker-named', 'worker-random', 'runloop', 'prober', 'update-pod-status', 'manager', 'results'];
    const files = [...families, 'status-manager', 'conditions', 'wire-http', 'wire-tcp', 'wire-grpc', 'wire-h2'];
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
