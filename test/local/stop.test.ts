/** SIGTERM ends the process within five seconds, whatever is under way and whoever does not answer. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type Answer, awsServer, serverKeys } from '../support/aws-json-server.ts';
import { listenWith } from '../support/tcp-server.ts';

const main = new URL('../../functions/local/main.ts', import.meta.url).pathname;
const stopMaxMs = 5_000;

type Started = { readonly child: ChildProcess; readonly port: number };

/** Once it has written the sign to standard error. */
async function started(t: TestContext, args: readonly string[], sign: RegExp): Promise<Started> {
  const { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } = serverKeys;
  const env = { ...process.env, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION: 'eu-central-1' };
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  for await (const text of child.stderr) {
    const found = sign.exec(String(text));
    if (found) return { child, port: Number(found[1]) };
  }
  throw new Error('it did not start');
}

async function endsInTime(child: ChildProcess): Promise<void> {
  const startMs = performance.now();
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  const ms = performance.now() - startMs;
  assert.ok(ms < stopMaxMs, `it took ${Math.round(ms)} ms`);
}

async function register(port: number, name: string, readinessProbe: object): Promise<void> {
  const spec = { host: '127.0.0.1', readinessProbe: { timeoutSeconds: 60, ...readinessProbe } };
  const url = `http://127.0.0.1:${port}/v1/namespaces/default/targets/${name}`;
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'PUT', body: JSON.stringify({ spec }), headers });
  assert.equal(answer.status, 201, await answer.text());
}

/** A connection that sends this and stays. */
async function held(t: TestContext, port: number, text: string): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
}

/** AWS as it looks at the start of a process; what comes after is not answered. */
const answeredAtStart: Readonly<Record<string, Answer>> = {
  'DynamoDB_20120810.GetItem': { body: {} },
  'AmazonSQS.GetQueueAttributes': { body: { Attributes: { FifoQueue: 'true' } } },
};

/** `asked`: resolves when a call came that is not answered. */
async function withAws(t: TestContext) {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const answered = new Map(Object.entries(answeredAtStart));
  const { endpoint, close } = await awsServer(({ target }) => {
    const answer = answered.get(target);
    if (!answer) resolve();
    answered.delete(target);
    return answer ?? 'silence';
  });
  t.after(close);
  const queueUrl = `${endpoint}/000000000000/shards.fifo`;
  return { asked, options: ['--table', 'probelet', '--queue-url', queueUrl, '--endpoint', endpoint] };
}

describe('a stop is held up by', { concurrency: true }, () => {
  test('no silent peer, no command that ignores SIGTERM, no client that stays connected', async (t) => {
    const reached = Promise.withResolvers<void>();
    const silent = await listenWith(
      createServer(() => reached.resolve()),
      '127.0.0.1',
    );
    t.after(silent.close);
    const folder = mkdtempSync(join(tmpdir(), 'probelet-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const allowed = join(folder, 'allowed');
    writeFileSync(allowed, '/bin/sh\n');
    const options = ['--port', '0', '--data-dir', join(folder, 'data'), '--allow-exec', allowed];
    const { child, port } = await started(t, options, /listens on http:\/\/127\.0\.0\.1:(\d+)/);
    await register(port, 'stubborn', { exec: { command: ['/bin/sh', '-c', "trap '' TERM; sleep 60 & wait; wait"] } });
    await register(port, 'silent', { httpGet: { path: '/', port: silent.port } });
    const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
    for (const text of ['', head('/healthz'), `${head('/healthz')}\r\n`, `${head('/v1/watch')}\r\n`])
      await held(t, port, text);
    await reached.promise;
    await endsInTime(child);
  });

  test('no queue that does not answer a worker', async (t) => {
    const { asked, options } = await withAws(t);
    const { child } = await started(t, ['--worker', ...options], /probelet works for/);
    await asked;
    await endsInTime(child);
  });

  test('no table that does not answer the control process', async (t) => {
    const { asked, options } = await withAws(t);
    const listens = /listens on http:\/\/127\.0\.0\.1:(\d+)/;
    const { child } = await started(t, ['--control', '--port', '0', ...options], listens);
    await asked;
    await endsInTime(child);
  });
});
