/** The vector files of a folder: JSON Lines, plain or packed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Vector } from './runner.ts';

const suffix = /\.jsonl(\.gz)?$/;

/** The vectors that the project carries. */
export const keptVectors = join(import.meta.dirname, 'vectors');

/** In name order. */
export const vectorFiles = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((file) => suffix.test(file))
    .sort();

/** What a file is called without its suffix. */
export const baseOf = (file: string): string => file.replace(suffix, '');

export function readVectors(path: string): readonly Vector[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Vector);
}
