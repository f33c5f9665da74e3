/**
 * Which addresses of a name are dialed when, and what comes of it. What kubelet makes of real addresses is in
 * wire-addresses.jsonl; here are the cases that take longer, or that no single machine has.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newSocketBudget } from '../../shared/holder/probing/sockets.ts';
import { endingClock } from '../../shared/lib/clock.ts';
import { type DialerOptions, guardedDialer } from '../../shared/net/dialer.ts';
import type { DialRequest, SocketPermit } from '../../shared/net/net.ts';
import { peerSocket } from '../../shared/net/reading.ts';
import { virtualClock } from '../support/virtual-clock.ts';

/** What comes of a connection to an address; absent: it hangs. */
type Codes = Readonly<Record<string, string>>;

/** A dialer on a machine that has a route to each address but those without a source. */
function machine(addresses: readonly string[], codes: Codes = {}, options: Partial<DialerOptions> = {}) {
  const clock = virtualClock();
  const dialed: (readonly [address: string, afterMs: number])[] = [];
  const asked: string[] = [];
  let open = 0;
  let openMax = 0;
  const dial = guardedDialer({
    clock,
    resolve: async () => ({ kind: 'resolved', addresses }),
    policy: () => true,
    sourceOf: async (address) => {
      asked.push(address);
      return address;
    },
    newSocket() {
      const socket = peerSocket();
      socket.once('close', () => {
        open -= 1;
      });
      open += 1;
      openMax = Math.max(openMax, open);
      socket.connect = (...[to]: readonly unknown[]) => {
        const { host } = to as { readonly host: string };
        dialed.push([host, clock.monotonicMs() - startMs]);
        const code = codes[host];
        return code === undefined ? socket : socket.destroy(Object.assign(new Error(code), { code }));
      };
      return socket;
    },
    ...options,
  });
  const startMs = clock.monotonicMs();
  const start = (deadlineMs: number, request: Partial<DialRequest> = {}) =>
    dial({ host: 'name.test', port: 80, deadlineMs, ...request });
  const run = async (timeoutMs: number, request: Partial<DialRequest> = {}) => {
    const outcome = await clock.runUntil(start(startMs + timeoutMs, request));
    if (outcome.kind === 'connected') assert.fail('nothing listens');
    return outcome;
  };
  return { start, run, dialed, asked, clock, openMax: () => openMax };
}

const ipv4 = (many: number) => Array.from({ length: many }, (_, at) => `10.0.0.${at + 1}`);

describe('the addresses of a name that hang are dialed', () => {
  const grpcMs = 20_000;
  for (const [what, timeoutMs, dividedMs, many, startsMs] of [
    ['with all of the time for the first, where it is short', 1000, undefined, 4, [0]],
    ['with two seconds for each, as far as they go', 5000, undefined, 4, [0, 2000, 4000]],
    ['with an even share, where it is longer', 12_000, undefined, 3, [0, 4000, 8000]],
    ['over HTTP with all of the time for the first', 30_000, Number.POSITIVE_INFINITY, 3, [0]],
    ['over gRPC with a share of its 20 s', 12_000, grpcMs, 2, [0, 10_000]],
    ['over gRPC with a share of its 20 s, which may be more than the time-out', 9_000, grpcMs, 2, [0]],
  ] as const)
    test(what, async () => {
      const { run, dialed, clock } = machine(ipv4(many));
      const divided = dividedMs === undefined ? {} : { dividedUntilMs: clock.monotonicMs() + dividedMs };
      const { failureClass, message } = await run(timeoutMs, divided);
      assert.deepEqual([failureClass, message], ['CONNECT_TIMEOUT', 'dial tcp 10.0.0.1:80: i/o timeout']);
      assert.deepEqual(
        dialed.map(([, afterMs]) => afterMs),
        startsMs,
      );
    });
});

describe('the other family of a name is dialed', () => {
  const both = ['10.0.0.1', '2001:db8::1'];

  test('300 ms later where the first hangs, and both end at the deadline', async () => {
    const { run, dialed, openMax } = machine(both);
    assert.equal((await run(1000)).message, 'dial tcp [2001:db8::1]:80: i/o timeout');
    assert.deepEqual(
      [dialed, openMax()],
      [
        [
          ['2001:db8::1', 0],
          ['10.0.0.1', 300],
        ],
        2,
      ],
    );
  });

  test('not at all once a clock has ended that had the first dialed', async () => {
    const clock = endingClock(virtualClock());
    const { start, dialed } = machine(both, {}, { clock });
    const outcome = start(clock.monotonicMs() + 1000);
    for (let turns = 0; turns < 10 && dialed.length === 0; turns += 1) await Promise.resolve();
    clock.end();
    assert.equal((await outcome).kind, 'failed');
    assert.deepEqual(
      dialed.map(([address]) => address),
      ['2001:db8::1'],
    );
  });

  test('at once where the first is refused', async () => {
    const { run, dialed } = machine(both, { '2001:db8::1': 'ECONNREFUSED', '10.0.0.1': 'ECONNREFUSED' });
    assert.equal((await run(1000)).message, 'dial tcp [2001:db8::1]:80: connect: connection refused');
    assert.deepEqual(dialed, [
      ['2001:db8::1', 0],
      ['10.0.0.1', 0],
    ]);
  });

  test('with one socket more under a permit, which the budget counts', async () => {
    const descriptors = 2;
    const clock = virtualClock();
    const budget = newSocketBudget(clock, descriptors);
    const place = budget.take('steady', 1);
    const free: boolean[] = [];
    const permit: SocketPermit = {
      closing: () => place.closing(),
      refused: (code) => place.refused(code),
      opened() {
        const closed = place.opened();
        free.push(budget.hasFor('steady', 1));
        return closed;
      },
    };
    const { run } = machine(both);
    await run(1000, { permit });
    await place.closing();
    assert.deepEqual([free, budget.hasFor('steady', 1)], [[true, false], true]);
    place.leave();
    assert.equal(budget.hasFor('steady', descriptors), true);
  });

  test('not at all where the machine has no free socket, which is a prober error', async () => {
    const { run, dialed } = machine(both, { '2001:db8::1': 'EMFILE' });
    assert.equal((await run(1000)).code, 'EMFILE');
    assert.equal(dialed.length, 1);
  });

  test('and a socket that the machine refuses it makes the dial a prober error, for it may have been the target’s answer', async () => {
    const { run } = machine(both, { '10.0.0.1': 'EMFILE' });
    const { failureClass, code } = await run(1000);
    assert.deepEqual([failureClass, code], ['PROBER', 'EMFILE']);
  });
});

describe('an unreachable network', () => {
  const noRoute: Partial<DialerOptions> = { sourceOf: async () => undefined };
  const unreachable = { '2001:db8::1': 'ENETUNREACH', '10.0.0.1': 'ENETUNREACH' };

  for (const [what, addresses, codes, options, failureClass, address] of [
    ['is a prober error without a route', ['2001:db8::1'], unreachable, noRoute, 'PROBER', '[2001:db8::1]'],
    ['is so over IPv4 too', ['10.0.0.1'], unreachable, noRoute, 'PROBER', '10.0.0.1'],
    [
      'is the target’s failure where a router says so',
      ['2001:db8::1'],
      unreachable,
      {},
      'CONNECT_UNREACHABLE',
      '[2001:db8::1]',
    ],
    [
      'of both families is a prober error, named by the first',
      ['2001:db8::1', '10.0.0.1'],
      unreachable,
      noRoute,
      'PROBER',
      '[2001:db8::1]',
    ],
    [
      'of one family leaves the decision to the other',
      ['2001:db8::1', '10.0.0.1'],
      { ...unreachable, '10.0.0.1': 'ECONNREFUSED' },
      noRoute,
      'CONNECT_REFUSED',
      '10.0.0.1',
    ],
    [
      'of one address leaves the decision to the next',
      ['10.0.0.1', '10.0.0.2'],
      { '10.0.0.1': 'EADDRNOTAVAIL', '10.0.0.2': 'EHOSTUNREACH' },
      {},
      'CONNECT_UNREACHABLE',
      '10.0.0.2',
    ],
    [
      'with a host that a router cannot reach is the target’s failure',
      ['10.0.0.1'],
      { '10.0.0.1': 'EHOSTUNREACH' },
      noRoute,
      'CONNECT_UNREACHABLE',
      '10.0.0.1',
    ],
  ] as const)
    test(what, async () => {
      const failure = await machine(addresses, codes, options).run(1000);
      assert.deepEqual([failure.failureClass, failure.message.split(':80')[0]], [failureClass, `dial tcp ${address}`]);
    });
});

describe('routes are asked for', () => {
  const refused = { '10.0.0.1': 'ECONNREFUSED', '10.0.0.2': 'ECONNREFUSED' };

  test('where a name has several addresses, once in 5 s', async () => {
    const { run, asked, clock } = machine(ipv4(2), refused);
    for (const afterMs of [0, 4999, 1]) {
      await clock.advance(afterMs);
      await run(60_000);
    }
    assert.deepEqual(asked, ['10.0.0.1', '10.0.0.2', '10.0.0.1', '10.0.0.2']);
  });

  test('neither for one address nor for one that the policy denies', async () => {
    const one = machine(ipv4(1), refused);
    await one.run(1000);
    const policy = (address: string) => address !== '10.0.0.3';
    const three = machine(ipv4(3), refused, { policy });
    await three.run(1000);
    assert.deepEqual([one.asked, three.asked, three.dialed.length], [[], ['10.0.0.1', '10.0.0.2'], 2]);
  });

  test('for 64 addresses at most, of which eight of each family are dialed', async () => {
    const addresses = ipv4(100);
    const { run, asked, dialed } = machine(
      addresses,
      Object.fromEntries(addresses.map((each) => [each, 'ECONNREFUSED'])),
    );
    await run(1000);
    assert.deepEqual([asked.length, dialed.length], [64, 8]);
  });
});
