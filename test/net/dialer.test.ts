import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '../../shared/lib/clock.ts';
import { type DialerOptions, guardedDialer } from '../../shared/net/dialer.ts';
import type { Dialed, DialFailure, Resolution, SocketPermit } from '../../shared/net/net.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { newSocketBudget } from '../../shared/run/probing/sockets.ts';
import { startTcpServer, type TcpServerKind } from '../support/tcp-server.ts';

const farMs = 60_000;

async function listener(t: TestContext, kind: TcpServerKind, host = '127.0.0.1'): Promise<number> {
  const server = await startTcpServer(kind, host);
  t.after(() => server.close());
  return server.port;
}

/** A dialer for a name that has these addresses. */
function dialer(addresses: readonly string[], options: Partial<DialerOptions> = {}) {
  const dial = guardedDialer({
    resolve: async () => ({ kind: 'resolved', addresses }),
    policy: dialPolicy({ mode: 'local' }),
    clock: systemClock,
    ...options,
  });
  return (port: number, timeoutMs = farMs, permit?: SocketPermit) =>
    dial({
      host: 'name.test',
      port,
      deadlineMs: systemClock.monotonicMs() + timeoutMs,
      ...(permit && { permit }),
    });
}

function peerOf(t: TestContext, outcome: Dialed | DialFailure): string | undefined {
  if (outcome.kind === 'failed') assert.fail(outcome.message);
  t.after(() => outcome.socket.destroy());
  return outcome.socket.remoteAddress;
}

const failureOf = (outcome: Dialed | DialFailure) =>
  outcome.kind === 'failed' ? [outcome.failureClass, outcome.message] : assert.fail('connected');

describe('the guarded dialer', () => {
  for (const host of ['127.0.0.1', '::1']) {
    test(`connects to ${host}`, async (t) => {
      const port = await listener(t, 'accept-silent', host);
      assert.equal(peerOf(t, await dialer([host])(port)), host);
    });
  }

  test('goes on to the next address when one refuses', async (t) => {
    const port = await listener(t, 'accept-silent', '::1');
    assert.equal(peerOf(t, await dialer(['127.0.0.1', '::1'])(port)), '::1');
  });

  test('goes on to the next address when one hangs, with time left for it', async (t) => {
    const port = await listener(t, 'backlog-full');
    const dial = dialer(['127.0.0.1', '::1']);
    assert.deepEqual(failureOf(await dial(port, 400)), ['CONNECT_TIMEOUT', `dial tcp 127.0.0.1:${port}: i/o timeout`]);
  });

  test('leaves out the addresses that the policy denies', async (t) => {
    const port = await listener(t, 'accept-silent');
    assert.equal(peerOf(t, await dialer(['169.254.169.254', '127.0.0.1'])(port)), '127.0.0.1');
  });

  test('denies a name that has no other', async () => {
    const failure = failureOf(await dialer(['169.254.169.254', 'fe80::1'])(80));
    assert.deepEqual(failure, ['POLICY_DENIED', 'dial tcp name.test:80: denied by the dial policy']);
  });

  test('denies a peer that is not the one that was checked', async (t) => {
    const port = await listener(t, 'accept-silent', '::1');
    const asked: string[] = [];
    const policy = (address: string) => asked.push(address) === 1;
    const failure = failureOf(await dialer(['::1'], { policy })(port));
    assert.deepEqual([failure[0], asked], ['POLICY_DENIED', ['::1', '::1']]);
  });

  test('says a refused connection as Go does', async (t) => {
    const port = await listener(t, 'closed');
    const text = `dial tcp 127.0.0.1:${port}: connect: connection refused`;
    assert.deepEqual(failureOf(await dialer(['127.0.0.1'])(port)), ['CONNECT_REFUSED', text]);
  });

  test('puts an IPv6 address in brackets', async (t) => {
    const port = await listener(t, 'closed', '::1');
    const text = `dial tcp [::1]:${port}: connect: connection refused`;
    assert.deepEqual(failureOf(await dialer(['::1'])(port)), ['CONNECT_REFUSED', text]);
  });

  for (const port of [65_536, 70_000, -1, Number.NaN]) {
    test(`port ${port} is nobody's`, async () => {
      const failure = failureOf(await dialer(['127.0.0.1'])(port));
      assert.deepEqual(failure, ['CONNECT_UNREACHABLE', `dial tcp: address ${port}: invalid port`]);
    });
  }

  for (const [resolution, expected] of [
    [{ kind: 'notFound', message: 'no such host' }, ['DNS', 'dial tcp: lookup name.test: no such host']],
    [{ kind: 'unavailable', message: 'i/o timeout' }, ['PROBER', 'dial tcp: lookup name.test: i/o timeout']],
  ] as const satisfies readonly (readonly [Resolution, unknown])[]) {
    test(`${resolution.kind} is ${expected[0]}`, async () => {
      const dial = dialer([], { resolve: async () => resolution });
      assert.deepEqual(failureOf(await dial(80)), expected);
    });
  }

  test('a second dial under a permit waits until the first socket has closed', async (t) => {
    const port = await listener(t, 'accept-silent');
    const dial = dialer(['127.0.0.1']);
    const place = newSocketBudget().take('steady', 1);
    const first = await dial(port, farMs, place);
    if (first.kind === 'failed') assert.fail(first.message);
    const second = dial(port, farMs, place);
    first.socket.destroy();
    peerOf(t, await second);
    assert.equal(first.socket.closed, true);
  });

  test('a dial that waits for another socket of its permit ends with its deadline, as a prober error', async (t) => {
    const port = await listener(t, 'accept-silent');
    const dial = dialer(['127.0.0.1']);
    const place = newSocketBudget().take('steady', 1);
    peerOf(t, await dial(port, farMs, place));
    const failure = failureOf(await dial(port, 50, place));
    assert.deepEqual(failure, ['PROBER', 'dial tcp: the previous socket of the probe has not closed']);
  });

  test('the next address is dialed under the same permit', async (t) => {
    const port = await listener(t, 'accept-silent', '::1');
    assert.equal(
      peerOf(t, await dialer(['127.0.0.1', '::1'])(port, farMs, newSocketBudget().take('steady', 1))),
      '::1',
    );
  });

  test('an error after the dial does not end the process', async (t) => {
    const port = await listener(t, 'accept-silent');
    const dialed = await dialer(['127.0.0.1'])(port);
    if (dialed.kind === 'failed') assert.fail(dialed.message);
    dialed.socket.destroy(new Error('nobody listens to this'));
    await new Promise((resolve) => dialed.socket.once('close', resolve));
  });
});
