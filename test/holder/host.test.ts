/** The host of runs, on the queue in process under a virtual clock; the runs follow a script. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { type Host, hostShards, settleReceived } from '../../shared/holder/host.ts';
import type { Ports, RunEnd } from '../../shared/holder/run.ts';
import type { RunOptions } from '../../shared/holder/shard-run.ts';
import { sleep } from '../../shared/lib/clock.ts';
import { inProcessQueue } from '../../shared/queue/in-process.ts';
import { QueueUnavailable, type Received, type ShardMessage } from '../../shared/queue/queue.ts';
import { column, columns } from '../support/columns.ts';
import { recordingLog } from '../support/recording-log.ts';
import { shardMessage } from '../support/shard-messages.ts';
import { testsIn } from '../support/tests-in.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const visibilityMs = 15_000;

type RunOfScript = (given: {
  readonly ports: Ports;
  readonly message: ShardMessage;
  readonly options: RunOptions;
}) => RunEnd | Promise<RunEnd>;

function world() {
  const clock = virtualClock();
  const queue = inProcessQueue({ clock, visibilityMs, retentionMs: 3_600_000 });
  const runs: { readonly name: string; readonly message: ShardMessage; readonly atMs: number }[] = [];
  let ids = 0;
  const send = (shard: string, slot: number) => {
    ids += 1;
    return queue.send(shardMessage({ shard, slot, sentAtMs: clock.nowMs() }), {
      group: shard,
      deduplicationId: `id-${ids}`,
    });
  };
  /** A process: hosts until stopped, and writes down what it runs. */
  const process = (name: string, run: RunOfScript, concurrency = 1) => {
    const stop = new AbortController();
    const log = recordingLog();
    const host: Host = {
      clock,
      log,
      stop: stop.signal,
      portsFor: (lease) => ({ clock, log, lease }) as unknown as Ports,
      async runShard(ports, message, deadlineMs, options = {}) {
        assert.equal(deadlineMs, message.slotEndMs);
        runs.push({ name, message, atMs: clock.monotonicMs() });
        return run({ ports, message, options });
      },
    };
    const start = (receiver = queue) => hostShards({ ...host, receiver, concurrency });
    /** Hosts for so long, and then leaves. */
    const hostFor = async (ms: number, receiver = queue) => {
      const hosting = start(receiver);
      await clock.advance(ms);
      stop.abort();
      await clock.runUntil(hosting);
    };
    return { host, log, start, hostFor, stop: () => stop.abort() };
  };
  const received = async (): Promise<Received> => {
    const next = await queue.receive(0);
    assert.ok(next, 'a message');
    return next;
  };
  const isGone = async () => (await clock.runUntil(queue.receive(2 * visibilityMs))) === undefined;
  return { clock, queue, runs, send, process, received, isGone };
}

/** Keeps its message until the host wants to stop. */
const untilStop: RunOfScript = async ({ ports, options }) => {
  assert.equal(await ports.lease.extend(600_000), true);
  await sleep(ports.clock, 600_000, options.stop);
  return { kind: 'handover' };
};

const unavailable = (): Promise<never> => Promise.reject(new QueueUnavailable('a test'));

const forMs =
  (ms: number, end: RunEnd): RunOfScript =>
  async ({ ports }) => {
    await sleep(ports.clock, ms);
    return end;
  };

const inWorld = testsIn(() => world());

describe('the message of a run is deleted when', () => {
  for (const kind of ['slotDone', 'stale', 'moved', 'fenced'] as const)
    inWorld(`it ended as ${kind}`, async ({ send, received, process, isGone }) => {
      await send('a', 1);
      assert.equal(await settleReceived(process('p', () => ({ kind })).host, await received()), 'acknowledged');
      assert.equal(await isGone(), true);
    });
});

inWorld('a run learns whether its message was received before', async ({ clock, send, received, process }) => {
  await send('a', 1);
  const reported: (boolean | undefined)[] = [];
  const { host } = process('p', ({ options }) => {
    reported.push(options.redelivered);
    return { kind: 'doubt', reason: 'a test' };
  });
  await settleReceived(host, await received());
  await clock.advance(visibilityMs);
  await settleReceived(host, await received());
  assert.deepEqual(reported, [false, true]);
});

describe('the message of a run is left to its visibility when', () => {
  const doubt: RunOfScript = () => ({ kind: 'doubt', reason: 'a test' });
  const bug: RunOfScript = () => {
    throw new Error('a bug');
  };
  for (const [name, run] of Object.entries({ 'it ended in doubt': doubt, 'the run threw': bug }))
    inWorld(name, async ({ clock, queue, send, received, process }) => {
      await send('a', 1);
      const { host, log } = process('p', run);
      assert.equal(await settleReceived(host, await received()), 'kept');
      assert.equal(log.lines.length, run === bug ? 1 : 0);
      assert.equal(await queue.receive(0), undefined);
      await clock.advance(visibilityMs);
      assert.equal((await received()).receiveCount, 2);
    });

  for (const kind of ['slotDone', 'fenced', 'handover'] as const)
    inWorld(`it ended as ${kind} after its visibility was over`, async ({ clock, send, received, process }) => {
      await send('a', 1);
      const first = await received();
      const { host } = process('p', forMs(visibilityMs + 1, { kind }));
      const settled = settleReceived(host, first);
      await clock.advance(visibilityMs);
      const successor = await received();
      assert.equal(await clock.runUntil(settled), 'refused');
      assert.equal(await successor.lease.extend(visibilityMs), true);
    });

  for (const [name, error, level] of [
    ['the queue does not answer: that is no exception of the host', new QueueUnavailable('a test'), 'warn'],
    ['the queue has a defect, which the log calls an error', new TypeError('a defect'), 'error'],
  ] as const)
    inWorld(name, async ({ send, received, process }) => {
      await send('a', 1);
      const { host, log } = process('p', () => ({ kind: 'slotDone' }));
      const acknowledge = () => Promise.reject(error);
      assert.equal(await settleReceived(host, { ...(await received()), acknowledge }), 'kept');
      assert.deepEqual(columns(log.lines, 'level', 'message'), [[level, 'message not settled']]);
    });
});

inWorld('a malformed message is logged, dropped and never run', async ({ send, received, process, isGone, runs }) => {
  await send('a', 1);
  const { host, log } = process('p', () => ({ kind: 'slotDone' }));
  const body = `{"kind":"slot","shard":"${'a'.repeat(1_000)}"}`;
  assert.equal(await settleReceived(host, { ...(await received()), body }), 'acknowledged');
  assert.deepEqual([log.lines.length, log.lines[0]?.level, runs.length], [1, 'error', 0]);
  assert.ok(String(log.lines[0]?.fields?.excerpt).length <= 200);
  assert.equal(await isGone(), true);
});

inWorld('a run gets its lease, its deadline and the process’s memory', async ({ clock, send, received, process }) => {
  await send('a', 1);
  const memory = new Map();
  const { host } = process('p', async ({ ports, message, options }) => {
    assert.equal(options.memory, memory);
    assert.equal(options.release, `release of ${message.shard}`);
    await sleep(clock, visibilityMs - 1);
    assert.equal(await ports.lease.extend(visibilityMs), true);
    await sleep(clock, visibilityMs - 1);
    return { kind: 'slotDone' };
  });
  const optionsFor = ({ shard }: ShardMessage) => ({ memory, release: `release of ${shard}` });
  const settled = settleReceived({ ...host, optionsFor }, await received());
  assert.equal(await clock.runUntil(settled), 'acknowledged');
});

describe('a process that hosts shards', () => {
  inWorld('runs slot after slot, and the next one at once', async ({ send, process, runs }) => {
    for (const slot of [1, 2, 3]) await send('a', slot);
    await process('p', forMs(10_000, { kind: 'slotDone' })).hostFor(30_000);
    const begun = runs.map(({ message, atMs }) => `${message.slot} at ${atMs}`);
    assert.deepEqual(begun, ['1 at 0', '2 at 10000', '3 at 20000']);
  });

  inWorld('holds as many shards as it may, and not one more', async ({ clock, send, process, runs }) => {
    for (const shard of ['a', 'b', 'c']) await send(shard, 1);
    await process('p', untilStop, 2).hostFor(60_000);
    const shards = runs.map(({ message }) => message.shard);
    assert.deepEqual(shards, ['a', 'b']);
    assert.equal(clock.pending(), 0);
  });

  inWorld('that stops hands over its shard at once and receives no more', async ({ clock, send, process, runs }) => {
    await send('a', 1);
    const old = process('old', untilStop);
    const oldHosting = old.start();
    await clock.advance(5_000);
    const young = process('young', untilStop);
    const youngHosting = young.start();
    await clock.advance(5_000);
    old.stop();
    await clock.runUntil(oldHosting);
    assert.deepEqual(columns(runs, 'name', 'atMs'), [
      ['old', 0],
      ['young', 10_000],
    ]);
    young.stop();
    await clock.runUntil(youngHosting);
  });

  inWorld('that stops hands over what it still receives, without a run', async ({ send, received, process, runs }) => {
    await send('a', 1);
    const { host, stop } = process('p', untilStop);
    const message = await received();
    stop();
    assert.equal(await settleReceived(host, message), 'handedOver');
    assert.equal(runs.length, 0);
    assert.equal((await received()).receiveCount, 2);
  });

  inWorld('does not take back what another process waits for', async ({ clock, send, process, runs }) => {
    await send('a', 1);
    // Of an old release: every run leaves early. It may hold more shards and waits for them.
    const old = process('old', forMs(10_000, { kind: 'handover' }), 3);
    const oldHosting = old.start();
    await clock.advance(1_000);
    const young = process('young', untilStop);
    const youngHosting = young.start();
    await clock.advance(60_000);
    assert.deepEqual(column(runs, 'name'), ['old', 'young']);
    for (const each of [old, young]) each.stop();
    await clock.runUntil(Promise.all([oldHosting, youngHosting]));
  });

  inWorld('takes it back soon when no other process waits', async ({ send, process, runs }) => {
    await send('a', 1);
    await process('p', forMs(10_000, { kind: 'handover' }), 3).hostFor(15_000);
    assert.deepEqual(column(runs, 'atMs'), [0, 12_000]);
  });

  inWorld('continues when the queue answers again', async ({ queue, send, process, runs }) => {
    await send('a', 1);
    const { hostFor, log } = process('p', untilStop);
    let failures = 3;
    const failing: typeof queue = {
      ...queue,
      async receive(waitMs, signal) {
        failures -= 1;
        if (failures >= 0) throw new QueueUnavailable('a test');
        return queue.receive(waitMs, signal);
      },
    };
    await hostFor(5_000, failing);
    assert.deepEqual(column(runs, 'atMs'), [3_000]);
    assert.deepEqual(column(log.lines, 'level'), ['warn', 'warn', 'warn']);
  });
});

describe('a process that has to stop leaves nothing pending', () => {
  inWorld('while its lanes rest', async ({ clock, send, process, runs }) => {
    await send('a', 1);
    await process('p', forMs(10_000, { kind: 'handover' }), 3).hostFor(11_000);
    assert.deepEqual([runs.length, clock.monotonicMs(), clock.pending()], [1, 11_000, 0]);
  });

  inWorld('while its lanes rest, without another receive', async ({ clock, queue, send, process }) => {
    await send('a', 1);
    const { start, stop } = process('p', forMs(10_000, { kind: 'handover' }), 3);
    let receives = 0;
    const counting: typeof queue = {
      ...queue,
      receive(waitMs, signal) {
        receives += 1;
        return queue.receive(waitMs, signal);
      },
    };
    const hosting = start(counting);
    await clock.advance(11_000);
    const before = receives;
    stop();
    await clock.runUntil(hosting);
    assert.equal(receives, before);
  });

  inWorld('while a receive ignores the stop', async ({ clock, queue, send, process, received, runs }) => {
    const { start, stop } = process('p', untilStop, 2);
    const deaf: typeof queue = { ...queue, receive: (waitMs) => queue.receive(waitMs) };
    const hosting = start(deaf);
    await clock.advance(5_000);
    stop();
    await clock.advance(1_000);
    await send('a', 1);
    await clock.runUntil(hosting);
    assert.deepEqual([runs.length, clock.monotonicMs(), clock.pending()], [0, 6_000, 0]);
    assert.equal((await received()).receiveCount, 3, 'what both lanes received after all is free at once');
  });

  const answers: { readonly [name: string]: () => Promise<boolean> } = {
    'is refused': async () => false,
    'does not arrive': unavailable,
  };
  for (const [name, deaf] of Object.entries(answers))
    inWorld(`while the end of its message ${name}`, async ({ clock, queue, send, process, runs }) => {
      await send('a', 1);
      const failing: typeof queue = {
        ...queue,
        async receive(waitMs, signal) {
          const next = await queue.receive(waitMs, signal);
          const extend = (forMs: number) => (forMs === 0 ? deaf() : (next?.lease.extend(forMs) ?? deaf()));
          return next && { ...next, lease: { extend }, acknowledge: deaf };
        },
      };
      await process('p', untilStop, 2).hostFor(5_000, failing);
      assert.deepEqual([runs.length, clock.monotonicMs(), clock.pending()], [1, 5_000, 0]);
    });

  inWorld('while the queue is unreachable', async ({ clock, queue, process }) => {
    await process('p', untilStop, 2).hostFor(5_500, { ...queue, receive: unavailable });
    assert.deepEqual([clock.monotonicMs(), clock.pending()], [5_500, 0]);
  });

  inWorld('before it has begun', async ({ clock, send, process, runs }) => {
    await send('a', 1);
    const { start, stop } = process('p', untilStop, 2);
    stop();
    await clock.runUntil(start());
    assert.deepEqual([runs.length, clock.pending()], [0, 0]);
  });
});
