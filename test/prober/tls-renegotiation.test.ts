/** A server that asks for a second handshake on the connection of a probe. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createServer } from 'node:tls';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { httpProber } from '../../shared/prober/http.ts';
import { selfSigned } from '../support/certificate.ts';
import { loopbackDial as dial } from '../support/loopback-dial.ts';

const host = '127.0.0.1';
const certificate = selfSigned({
  hostname: 'localhost',
  notBefore: new Date('2020-01-01'),
  notAfter: new Date('2049-01-01'),
});

test('a server that renegotiates gets no second handshake, and fails the probe', async (t) => {
  let renegotiations = 0;
  const server = createServer({ ...certificate, maxVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] }, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.renegotiate({}, (error) => {
        if (error) return;
        renegotiations += 1;
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  t.after(() => server.close());
  const url = `https://${host}:${(server.address() as AddressInfo).port}/`;
  const { outcome } = await httpProber({ dial, clock })({
    kind: 'http',
    url,
    headers: [],
    hostOverride: '',
    timeoutMs: 30_000,
  });
  assert.deepEqual({ outcome, renegotiations }, { outcome: 'failure', renegotiations: 0 });
});
