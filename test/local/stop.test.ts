/** SIGTERM ends the process within five seconds, whatever is under way and whichever peer does not answer. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { register } from '../support/api-client.ts';
import { type Answer, awsServer, serverKeys } from '../support/aws-json-server.ts';
import { listenWith, portOf } from '../support/tcp-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Product, startProduct } from './product.ts';

const stopMaxMs = 5_000;

async function started(t: TestContext, args: readonly string[], ready?: RegExp): Promise<Product> {
  const { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } = serverKeys;
  const env = { ...process.env, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION: 'eu-central-1' };
  const product = await startProduct(args, { env, ...(ready && { ready }) });
  t.after(() => product.stop('SIGKILL'));
  return product;
}

async function endsInTime({ stop }: Product): Promise<void> {
  const startMs = performance.now();
  await stop();
  const ms = performance.now() - startMs;
  assert.ok(ms < stopMaxMs, `it took ${Math.round(ms)} ms`);
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
    const server = createServer(() => reached.resolve());
    const silentPort = await portOf(t, listenWith(server, '127.0.0.1'));
    const folder = temporaryFolder(t);
    const allowed = join(folder, 'allowed');
    writeFileSync(allowed, '/bin/sh\n');
    const product = await started(t, ['--port', '0', '--data-dir', join(folder, 'data'), '--allow-exec', allowed]);
    const { url, port } = product;
    const registered = (name: string, handler: object) =>
      register(url, name, { host: '127.0.0.1', readinessProbe: { timeoutSeconds: 60, ...handler } });
    await registered('stubborn', { exec: { command: ['/bin/sh', '-c', "trap '' TERM; sleep 60 & wait; wait"] } });
    await registered('silent', { httpGet: { path: '/', port: silentPort } });
    const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
    for (const text of ['', head('/healthz'), `${head('/healthz')}\r\n`, `${head('/v1/watch')}\r\n`])
      await held(t, port, text);
    await reached.promise;
    await endsInTime(product);
  });

  test('no queue that does not answer a worker', async (t) => {
    const { asked, options } = await withAws(t);
    const worker = await started(t, ['--worker', ...options], /probelet works for/);
    await asked;
    await endsInTime(worker);
  });

  test('no table that does not answer the control process', async (t) => {
    const { asked, options } = await withAws(t);
    const control = await started(t, ['--control', '--port', '0', ...options]);
    await asked;
    await endsInTime(control);
  });
});
