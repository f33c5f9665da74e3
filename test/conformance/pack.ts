/** `node test/conformance/pack.ts <folder>`: keeps the folder's vectors, compressed, for `npm test`. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const folder = process.argv[2];
if (folder === undefined) {
  console.error('usage: node test/conformance/pack.ts <folder of *.jsonl>');
  process.exit(2);
}

const kept = join(import.meta.dirname, 'vectors');
mkdirSync(kept, { recursive: true });
for (const file of readdirSync(folder).filter((name) => name.endsWith('.jsonl'))) {
  writeFileSync(join(kept, `${file}.gz`), gzipSync(readFileSync(join(folder, file)), { level: 9 }));
}
