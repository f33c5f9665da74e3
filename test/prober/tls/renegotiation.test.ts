/** A server that asks for a second handshake on the connection of a probe. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServer } from 'node:tls';
import { localhostCertificate } from '../../support/certificate.ts';
import { probeUrl } from '../../support/probe-url.ts';
import { listenWith, portOf } from '../../support/tcp-server.ts';

test('a server that renegotiates gets no second handshake, and fails the probe', async (t) => {
  let renegotiations = 0;
  const certificate = localhostCertificate();
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
  const port = await portOf(t, listenWith(server, '127.0.0.1'));
  const { outcome } = await probeUrl(`https://127.0.0.1:${port}/`);
  assert.deepEqual({ outcome, renegotiations }, { outcome: 'failure', renegotiations: 0 });
});
