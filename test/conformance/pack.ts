/**
 * `node test/conformance/pack.ts <folder>`: keeps the folder's vectors for `npm test`. Small families stay plain text,
 * so that a diff shows what changed in a vector; the large generated ones are compressed.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { baseOf, keptVectors, vectorFiles } from './vector-files.ts';

const plainBytesMax = 300_000;

const folder = process.argv[2];
if (folder === undefined) {
  console.error('usage: node test/conformance/pack.ts <folder of *.jsonl>');
  process.exit(2);
}

mkdirSync(keptVectors, { recursive: true });
for (const file of vectorFiles(folder).filter((name) => name.endsWith('.jsonl'))) {
  const bytes = readFileSync(join(folder, file));
  const plain = join(keptVectors, `${baseOf(file)}.jsonl`);
  const packed = `${plain}.gz`;
  const isPlain = bytes.length <= plainBytesMax;
  rmSync(isPlain ? packed : plain, { force: true });
  writeFileSync(isPlain ? plain : packed, isPlain ? bytes : gzipSync(bytes, { level: 9 }));
}
