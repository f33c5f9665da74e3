/** What is in the bundle of the program: packages are bundled to start faster, so only those that each start loads. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Metafile } from 'esbuild';
import { bundleProgram } from '../../functions/local/program-bundle.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
/** Of a package in the files that are loaded later, where it would be on the disk twice for nothing. */
const laterBytesMax = 200_000;

type Outputs = Metafile['outputs'];

/** The files that the start loads. */
function atStart(outputs: Outputs, path: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const { path: next, kind } of outputs[path]?.imports ?? [])
    if (kind === 'import-statement' && outputs[next]) atStart(outputs, next, found);
  return found;
}

test('no large package is bundled for what is loaded later', async (t) => {
  const entry = join(root, 'functions/local/main.ts');
  const { outputs } = await bundleProgram(entry, { root, folder: temporaryFolder(t) });
  const main = Object.keys(outputs).find((path) => path.endsWith('/main.mjs')) ?? '';
  const started = atStart(outputs, main);
  assert.ok(started.size > 1 && started.size < Object.keys(outputs).length, [...started].join());
  const bytes = new Map<string, number>();
  for (const [path, { inputs }] of Object.entries(outputs))
    for (const [input, { bytesInOutput }] of started.has(path) ? [] : Object.entries(inputs)) {
      const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input) ?? [];
      if (name !== undefined) bytes.set(name, (bytes.get(name) ?? 0) + bytesInOutput);
    }
  assert.deepEqual(
    [...bytes].filter(([, size]) => size > laterBytesMax),
    [],
  );
});

test('a program that is made again is the same one, and leaves nothing else', (t) => {
  const folder = temporaryFolder(t);
  for (const time of ['first', 'second']) {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'functions/local/bundle.ts'), folder]);
    assert.equal(status, 0, `${time}: ${stderr}`);
    const [program, ...others] = readdirSync(folder).sort();
    assert.match(program ?? '', /^program-[0-9a-f]{16}$/);
    assert.deepEqual(others, ['program.json'], time);
  }
});
