/** The port of `/healthz`: what it answers, and that it answers whatever the clients of the API do. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { endProduct, type Product, spawnProduct, startProduct } from './product.ts';

const ready = /answers \/healthz on (http:\/\/\S+:(\d+))\n/;

/** The url is that of the port of `/healthz`, which is opened last. */
async function started(t: TestContext, more: (folder: string) => readonly string[] = () => []): Promise<Product> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-'));
  const args = ['--port', '0', '--healthz-port', '0', '--data-dir', join(folder, 'data'), ...more(folder)];
  const product = await startProduct(args, { ready });
  t.after(async () => {
    await product.stop();
    rmSync(folder, { recursive: true });
  });
  return product;
}

function withToken(folder: string): readonly string[] {
  const file = join(folder, 'token');
  writeFileSync(file, 'a-token-of-32-characters-0123456', { mode: 0o600 });
  return ['--token-file', file];
}

const statusOf = async (url: string, options: RequestInit = {}): Promise<number> => {
  const response = await fetch(url, options);
  await response.arrayBuffer();
  return response.status;
};

test('answers /healthz without a token, and nothing else', async (t) => {
  const { url } = await started(t, withToken);
  assert.equal(await statusOf(`${url}/healthz`), 200);
  for (const path of ['/', '/healthz/', '/v1/targets', '/metrics', '/openapi.json'])
    assert.equal(await statusOf(`${url}${path}`), 404, path);
  assert.equal(await statusOf(`${url}/healthz`, { method: 'POST' }), 405);
});

test('without a token asks for a caller of this machine, as the API does', async (t) => {
  const { port } = await started(t);
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET /healthz HTTP/1.1\r\nHost: elsewhere.test:${port}\r\nConnection: close\r\n\r\n`);
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 403 /);
});

test('more connections than it has give way to a new one', async (t) => {
  const { url, port } = await started(t);
  const idle = Array.from({ length: 40 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  t.after(() => {
    for (const socket of idle) socket.destroy();
  });
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  await t.waitFor(async () => assert.equal(await statusOf(`${url}/healthz`), 200), { timeout: 10_000 });
});

test('a port that is taken ends the process, which names the option', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'probelet-'));
  const child = spawnProduct(['--port', '0', '--healthz-port', `${port}`, '--data-dir', join(folder, 'data')]);
  t.after(async () => {
    await endProduct(child);
    rmSync(folder, { recursive: true });
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 1, said);
  assert.match(
    said,
    new RegExp(`cannot listen on 127\\.0\\.0\\.1:${port} \\(EADDRINUSE\\): choose another with --healthz-port`),
  );
});
