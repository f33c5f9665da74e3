/** Tests and vectors that a document names in backticks: first the file, then what is in it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keptVectors, readVectors } from '../conformance/vector-files.ts';
import { codeSpansOf } from './markdown.ts';

const root = join(import.meta.dirname, '../..');

/** What is wrong with the tests that a cell of a table names; empty if all of them exist. */
export function namedTestProblems(cell: string): readonly string[] {
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

const isFile = (code: string): boolean => /^test\/\S+\.ts$/.test(code) || /^[a-z0-9-]+\.jsonl$/.test(code);
const exists = (file: string): boolean => existsSync(file.endsWith('.jsonl') ? vectorPath(file) : join(root, file));
/** Plain, or packed if it is large. */
const vectorPath = (file: string): string => {
  const plain = join(keptVectors, file);
  return existsSync(plain) ? plain : `${plain}.gz`;
};

/** What a file offers as names: those of its vectors, or every string that it quotes. */
function hasName(file: string, name: string): boolean {
  if (file.endsWith('.jsonl')) return vectorNames(file).has(name);
  const source = readFileSync(join(root, file), 'utf8');
  return ["'", '"', '`'].some((quote) => source.includes(`${quote}${name}${quote}`));
}

const vectorNames = (file: string): ReadonlySet<string> =>
  new Set(readVectors(vectorPath(file)).map(({ name }) => name));
