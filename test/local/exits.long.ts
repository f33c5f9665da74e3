/** `process.exit` ends the process, whatever V8 compiles at that moment: nodejs/node#54918. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const exitMsMax = 60_000;
const flags = ['--optimize-for-size', '--import', join(import.meta.dirname, 'compiling-at-exit.ts')];
const services = {
  ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
  // Nothing listens there.
  ...{ AWS_ENDPOINT_URL: 'http://127.0.0.1:9', PROBELET_SHARD_QUEUE_URL: 'http://127.0.0.1:9/shards.fifo' },
  ...{ PROBELET_TABLE: 'targets', PROBELET_BUS: 'probes', PROBELET_RELEASE: 'r1' },
};

/** How a program ends that gets SIGTERM once it prints that it is ready, if it does. */
async function endOf(program: readonly string[], ready: string): Promise<unknown> {
  const child = spawn(process.execPath, [...flags, ...program], { cwd: root, env: services });
  let isAsked = false;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (isAsked || !text.includes(ready)) return;
      isAsked = true;
      child.kill('SIGTERM');
    });
  const late = setTimeout(() => child.kill('SIGKILL'), exitMsMax);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(late);
  return signal ?? code;
}

test('a process alone ends', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-'));
  t.after(() => rmSync(folder, { recursive: true }));
  assert.equal(await endOf(['functions/local/main.ts', '--data-dir', folder, '--port', '0'], 'listens on'), 0);
});

test('a process alone ends that cannot start', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-'));
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => {
    rmSync(folder, { recursive: true });
    other.close();
  });
  const program = [
    'functions/local/main.ts',
    '--data-dir',
    folder,
    '--port',
    `${(other.address() as AddressInfo).port}`,
  ];
  assert.equal(await endOf(program, 'listens on'), 1);
});

test('a task ends', async () => {
  assert.equal(await endOf(['functions/prober/main.ts'], '"task started"'), 0);
});
