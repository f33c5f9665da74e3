import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';

const folder = mkdtempSync(join(tmpdir(), 'probelet-bench-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A compiler that notes in which network it runs. The last one fails, so that nothing is measured. */
function putCompiler(name: string, exitCode: number): void {
  const file = join(folder, name);
  writeFileSync(
    file,
    `#!/bin/sh\nreadlink /proc/self/ns/net >'${join(folder, `${name}.network`)}'\nexit ${exitCode}\n`,
  );
  chmodSync(file, 0o755);
}

test('npm run bench builds where it can download, not in its own network', {
  skip: process.platform !== 'linux',
}, () => {
  putCompiler('cc', 0);
  putCompiler('go', 1);
  const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), '--only', 'http'], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` },
  });
  assert.equal(status, 1, stderr);
  assert.match(stderr, /go build: exit code 1/);
  for (const compiler of ['cc', 'go']) {
    const network = readFileSync(join(folder, `${compiler}.network`), 'utf8').trim();
    assert.equal(network, readlinkSync('/proc/self/ns/net'), compiler);
  }
});
