import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { systemClock } from '../../shared/lib/clock.ts';
import type { Dial } from '../../shared/net/net.ts';
import { tcpProber } from '../../shared/prober/tcp.ts';
import { column } from '../support/columns.ts';
import { loopbackDial } from '../support/loopback-dial.ts';
import { listenWith, portOf, type RunningServer, startTcpServer, type TcpServerKind } from '../support/tcp-server.ts';

const servers: RunningServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function probed(kind: TcpServerKind, { host = '127.0.0.1', timeoutMs = 10_000, dial = loopbackDial } = {}) {
  const server = await startTcpServer(kind, host);
  servers.push(server);
  const attempt = await tcpProber({ dial, clock: systemClock })({ kind: 'tcp', host, port: server.port, timeoutMs });
  return { attempt, port: server.port };
}

describe('a TCP probe succeeds as soon as the connection is established', () => {
  for (const kind of ['accept-silent', 'accept-close', 'accept-writes', 'never-accept'] as const)
    test(kind, async () => {
      const { attempt } = await probed(kind);
      assert.equal(attempt.outcome, 'success');
      assert.equal(attempt.output, '');
      assert.ok(attempt.timings.totalMs >= (attempt.timings.connectMs ?? Number.POSITIVE_INFINITY));
    });
  test('to an IPv6 address too', async () => {
    const { attempt } = await probed('accept-silent', { host: '::1' });
    assert.equal(attempt.outcome, 'success');
  });
  test('and closes it', async () => {
    const sockets: Socket[] = [];
    const dial: Dial = async (request) => {
      const dialed = await loopbackDial(request);
      if (dialed.kind === 'connected') sockets.push(dialed.socket);
      return dialed;
    };
    await probed('accept-silent', { dial });
    assert.deepEqual(column(sockets, 'destroyed'), [true]);
  });
});

describe('a TCP probe fails with the text that kubelet shows', () => {
  for (const [when, kind, timeoutMs, text, failureClass] of [
    ['the port is closed', 'closed', 10_000, 'connect: connection refused', 'CONNECT_REFUSED'],
    ['the connect hangs', 'backlog-full', 100, 'i/o timeout', 'CONNECT_TIMEOUT'],
  ] as const)
    test(`when ${when}`, async () => {
      const { attempt, port } = await probed(kind, { timeoutMs });
      const output = `dial tcp 127.0.0.1:${port}: ${text}`;
      assert.deepEqual([attempt.outcome, attempt.output, attempt.failureClass], ['failure', output, failureClass]);
    });
  test('when the port cannot be', async () => {
    const probe = tcpProber({ dial: loopbackDial, clock: systemClock });
    const attempt = await probe({ kind: 'tcp', host: '127.0.0.1', port: 70_000, timeoutMs: 10_000 });
    assert.equal(attempt.outcome, 'failure');
    assert.equal(attempt.output, 'dial tcp: address 70000: invalid port');
  });
});

describe('a prober error, not a failure', () => {
  for (const failureClass of ['POLICY_DENIED', 'PROBER'] as const)
    test(failureClass, async () => {
      const dial: Dial = async () => ({ kind: 'failed', failureClass, message: 'why' });
      const { attempt } = await probed('accept-silent', { dial });
      assert.deepEqual([attempt.outcome, attempt.error, attempt.failureClass], ['unknown', 'why', failureClass]);
    });
});

test('a server sees the connection end', async (t) => {
  const server = createServer();
  const port = await portOf(t, listenWith(server, '127.0.0.1'));
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const request = { kind: 'tcp', host: '127.0.0.1', port, timeoutMs: 10_000 } as const;
  await tcpProber({ dial: loopbackDial, clock: systemClock })(request);
  const [socket] = await accepted;
  socket.resume();
  await once(socket, 'close');
});
