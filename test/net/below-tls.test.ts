/** Certificates that take long to verify never reach OpenSSL, which verifies them even when it does not have to. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { createServer } from 'node:tls';
import { plainChain } from '../fuzz-peers/certificate-chains.ts';
import { probeUrl } from '../support/probe-url.ts';
import { listenWith, portOf } from '../support/tcp-server.ts';

async function probed(t: TestContext, chainBytes: number, body = '') {
  const server = createServer(plainChain(chainBytes), (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
  });
  server.on('tlsClientError', () => undefined);
  const port = await portOf(t, listenWith(server, '127.0.0.1'));
  const { outcome, failureClass, output } = await probeUrl(`https://127.0.0.1:${port}/`);
  return [outcome, failureClass, output];
}

describe('a TLS handshake', () => {
  test('of an honest length is made', async (t) => {
    const body = 'x'.repeat(9_000);
    assert.deepEqual(await probed(t, 16 * 1024, body), ['success', undefined, body]);
  });

  test('with certificates beyond 32 KiB is a prober error, not a failure of the server', async (t) =>
    assert.deepEqual((await probed(t, 48 * 1024)).slice(0, 2), ['unknown', 'PROBER']));
});
