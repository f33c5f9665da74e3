/** What a user sees whose Node is too old: one line that says what to do, from every program. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const line =
  /^probelet needs Node \d+\.\d+ or newer, this is 20\.20\.2: install it from https:\/\/nodejs\.org and try again\. .*\n$/;

/** Without what Node 20 lacks and a program uses first. */
const asNode20 = `data:text/javascript,import module from 'node:module';
  Object.defineProperty(process.versions, 'node', { value: '20.20.2' });
  delete module.enableCompileCache;`;

for (const program of ['functions/cli/main.ts', 'functions/local/start.mjs'])
  test(`${program} says which Node it needs`, () => {
    const args = ['--import', asNode20, join(root, program), '--version'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, line);
  });

test('the command of a clone without the locked Node says it too', (t) => {
  const folder = temporaryFolder(t);
  for (const path of ['functions/cli/probelet', 'functions/local/require-node.mjs'])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const old = `#!/bin/sh\nexec '${process.execPath}' --import "${asNode20.replaceAll('\n', '')}" "$@"\n`;
  writeFileSync(join(bin, 'node'), old, { mode: 0o755 });
  const { status, stdout, stderr } = spawnSync(join(folder, 'functions/cli/probelet'), ['--version'], {
    encoding: 'utf8',
    env: { PATH: `${bin}:/usr/bin:/bin` },
  });
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, line);
});
