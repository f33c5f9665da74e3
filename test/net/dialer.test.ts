import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { newSocketBudget } from '../../shared/holder/probing/sockets.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { type DialerOptions, guardedDialer } from '../../shared/net/dialer.ts';
import type { Dialed, DialFailure, Resolution, SocketPermit } from '../../shared/net/net.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { stand } from '../support/stand.ts';
import { portOf, startTcpServer, type TcpServerKind } from '../support/tcp-server.ts';

const farMs = 60_000;

const listener = (t: TestContext, kind: TcpServerKind, host = '127.0.0.1') => portOf(t, startTcpServer(kind, host));

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
  for (const [name, addresses, peer, permit] of [
    ['connects to 127.0.0.1', ['127.0.0.1'], '127.0.0.1'],
    ['connects to ::1', ['::1'], '::1'],
    ['dials the next address when one refuses', ['127.0.0.1', '::1'], '::1'],
    [
      'dials the next address under the same permit',
      ['127.0.0.1', '::1'],
      '::1',
      newSocketBudget(systemClock).take('steady', 1),
    ],
    ['skips the addresses that the policy denies', ['169.254.169.254', '127.0.0.1'], '127.0.0.1'],
  ] as const)
    test(name, async (t) => {
      const port = await listener(t, 'accept-silent', peer);
      assert.equal(peerOf(t, await dialer(addresses)(port, farMs, permit)), peer);
    });

  test('connects to the other family when the first one hangs', async (t) => {
    const port = await listener(t, 'backlog-full', '::1');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    t.after(() => server.close());
    const place = newSocketBudget(systemClock).take('steady', 1);
    assert.equal(peerOf(t, await dialer(['127.0.0.1', '::1'])(port, farMs, place)), '127.0.0.1');
  });

  test('takes a connection that was made in time, although its own process was busy until the deadline', async (t) => {
    const port = await listener(t, 'accept-silent');
    const outcome = dialer(['127.0.0.1'])(port, 50);
    await Promise.resolve();
    stand(100);
    assert.equal(peerOf(t, await outcome), '127.0.0.1');
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

  for (const [host, written] of [
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]'],
  ] as const)
    test(`reports a connection that ${host} refuses in Go’s words`, async (t) => {
      const port = await listener(t, 'closed', host);
      const text = `dial tcp ${written}:${port}: connect: connection refused`;
      assert.deepEqual(failureOf(await dialer([host])(port)), ['CONNECT_REFUSED', text]);
    });

  for (const port of [65_536, 70_000, -1, Number.NaN])
    test(`port ${port} is invalid`, async () => {
      const failure = failureOf(await dialer(['127.0.0.1'])(port));
      assert.deepEqual(failure, ['CONNECT_UNREACHABLE', `dial tcp: address ${port}: invalid port`]);
    });

  for (const [resolution, expected] of [
    [{ kind: 'notFound', message: 'no such host' }, ['DNS', 'dial tcp: lookup name.test: no such host']],
    [{ kind: 'unavailable', message: 'i/o timeout' }, ['PROBER', 'dial tcp: lookup name.test: i/o timeout']],
  ] as const satisfies readonly (readonly [Resolution, unknown])[])
    test(`${resolution.kind} is ${expected[0]}`, async () => {
      const dial = dialer([], { resolve: async () => resolution });
      assert.deepEqual(failureOf(await dial(80)), expected);
    });

  test('a second dial under a permit waits until the first socket has closed', async (t) => {
    const port = await listener(t, 'accept-silent');
    const dial = dialer(['127.0.0.1']);
    const place = newSocketBudget(systemClock).take('steady', 1);
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
    const place = newSocketBudget(systemClock).take('steady', 1);
    peerOf(t, await dial(port, farMs, place));
    const failure = failureOf(await dial(port, 50, place));
    assert.deepEqual(failure, ['PROBER', 'dial tcp: the previous socket of the probe has not closed']);
  });

  test('an error after the dial does not end the process', async (t) => {
    const port = await listener(t, 'accept-silent');
    const dialed = await dialer(['127.0.0.1'])(port);
    if (dialed.kind === 'failed') assert.fail(dialed.message);
    dialed.socket.destroy(new Error('without a listener'));
    await new Promise((resolve) => dialed.socket.once('close', resolve));
  });
});
