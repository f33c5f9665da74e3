/** A server whose certificates take long to verify: they are never handed to OpenSSL, which would verify them though nobody asks for it. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { createServer } from 'node:tls';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import { httpProber } from '../../shared/prober/http.ts';
import { plainChain } from '../fuzz-peers/certificate-chains.ts';

const host = '127.0.0.1';
const dial = guardedDialer({
  clock,
  policy: () => true,
  resolve: async (name) => ({ kind: 'resolved', addresses: [name] }),
});

async function probed(
  t: TestContext,
  { chainBytes, body = '' }: { readonly chainBytes: number; readonly body?: string },
) {
  const server = createServer(plainChain(chainBytes), (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  t.after(() => server.close());
  const url = `https://${host}:${(server.address() as AddressInfo).port}/`;
  const request = { kind: 'http', url, headers: [], hostOverride: '', timeoutMs: 30_000 } as const;
  const { outcome, failureClass, output } = await httpProber({ dial, clock })(request);
  return { outcome, failureClass, output };
}

describe('a TLS handshake', () => {
  test('of an honest length is made', async (t) => {
    const body = 'x'.repeat(9_000);
    assert.deepEqual(await probed(t, { chainBytes: 16 * 1024, body }), {
      outcome: 'success',
      failureClass: undefined,
      output: body,
    });
  });

  test('with certificates beyond 32 KiB is a prober error: it says nothing of the server', async (t) => {
    const { outcome, failureClass } = await probed(t, { chainBytes: 48 * 1024 });
    assert.deepEqual({ outcome, failureClass }, { outcome: 'unknown', failureClass: 'PROBER' });
  });
});
