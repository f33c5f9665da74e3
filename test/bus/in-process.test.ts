import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventEnvelope } from '../../shared/bus/bus.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import { InvalidPattern } from '../../shared/bus/pattern.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { immediateClock } from '../support/immediate-clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { testsIn } from '../support/tests-in.ts';
import { until } from '../support/wait.ts';
import { syncRequested } from './sample-event.ts';

const all = { source: ['probelet'] };

function world(queueMax?: number) {
  const clock = immediateClock();
  const log = recordingLog();
  const bus = inProcessBus({ clock, random: systemRandom, log, ...(queueMax !== undefined && { queueMax }) });
  return { clock, log, bus };
}

const ids = (events: readonly EventEnvelope[]) => events.map((event) => event.id);

const inWorld = testsIn(() => world());

inWorld('a subscriber gets the envelope of EventBridge', async ({ bus }) => {
  const seen: EventEnvelope[] = [];
  bus.subscribe(all, (event) => void seen.push(event));
  assert.deepEqual(await bus.publish([syncRequested(1)]), { failed: [] });
  await bus.settled();
  assert.deepEqual(seen, [
    {
      version: '0',
      id: 'event-1',
      source: 'probelet',
      'detail-type': 'Target Sync Requested',
      time: '2026-01-01T00:00:00Z',
      detail: syncRequested(1).detail,
    },
  ]);
});

inWorld('only what matches the pattern is delivered, in order', async ({ bus }) => {
  const seen: EventEnvelope[] = [];
  bus.subscribe({ detail: { target: { name: [{ prefix: 'a' }] } } }, (event) => void seen.push(event));
  await bus.publish([syncRequested(1, 'ab'), syncRequested(2, 'b'), syncRequested(3, 'ac')]);
  await bus.settled();
  assert.deepEqual(ids(seen), ['event-1', 'event-3']);
});

inWorld('delivery is asynchronous: a publisher never runs a subscriber', async ({ bus }) => {
  let delivered = false;
  bus.subscribe(all, () => {
    delivered = true;
  });
  const publishing = bus.publish([syncRequested(1)]);
  assert.equal(delivered, false);
  await publishing;
  await bus.settled();
  assert.equal(delivered, true);
});

test('a throwing subscriber is tried a bounded number of times and harms no other', async () => {
  const { bus, clock, log } = world();
  const seen: EventEnvelope[] = [];
  let calls = 0;
  bus.subscribe(
    all,
    () => {
      calls += 1;
      throw new Error('no');
    },
    { name: 'broken' },
  );
  bus.subscribe(all, (event) => void seen.push(event));
  await bus.publish([syncRequested(1), syncRequested(2)]);
  await bus.settled();
  assert.equal(calls, 8);
  assert.deepEqual(ids(seen), ['event-1', 'event-2']);
  assert.equal(clock.waits.filter((ms) => ms > 0).length, 6);
  assert.equal(log.lines.filter((line) => line.message.startsWith('event dropped')).length, 2);
});

test('a subscriber that waits for nothing lets everybody else have a turn', async () => {
  const bus = inProcessBus({ clock: systemClock, random: systemRandom, log: recordingLog() });
  const delivered = 40;
  const busyMs = 1;
  let seen = 0;
  bus.subscribe(all, () => {
    for (const endMs = performance.now() + busyMs; performance.now() < endMs; );
    seen += 1;
  });
  await bus.publish(Array.from({ length: delivered }, (_, at) => syncRequested(at)));
  const atTurns = [0];
  const turn = () => {
    atTurns.push(seen);
    if (seen < delivered) setImmediate(turn);
  };
  setImmediate(turn);
  await bus.settled();
  atTurns.push(seen);
  const most = Math.max(...atTurns.map((count, at) => count - (atTurns[at - 1] ?? 0)));
  assert.ok(most <= 10, `${most} delivered in one turn of the event loop`);
  assert.equal(seen, delivered);
});

inWorld('a rejected delivery that succeeds later is delivered once', async ({ bus }) => {
  let calls = 0;
  bus.subscribe(all, () => {
    calls += 1;
    return calls < 3 ? Promise.reject(new Error('not yet')) : Promise.resolve();
  });
  await bus.publish([syncRequested(1)]);
  await bus.settled();
  assert.equal(calls, 3);
});

test('a subscriber that is too slow loses what its queue cannot hold, others lose nothing', async () => {
  const { bus, log } = world(2);
  const slow: EventEnvelope[] = [];
  const quick: EventEnvelope[] = [];
  const gate = Promise.withResolvers<void>();
  bus.subscribe(all, async (event) => {
    await gate.promise;
    slow.push(event);
  });
  bus.subscribe(all, (event) => void quick.push(event));
  for (const number of [1, 2, 3, 4, 5]) {
    await bus.publish([syncRequested(number)]);
    await new Promise(setImmediate);
  }
  gate.resolve();
  await bus.settled();
  assert.deepEqual(ids(slow), ['event-1', 'event-2', 'event-3']);
  assert.deepEqual(ids(quick), ['event-1', 'event-2', 'event-3', 'event-4', 'event-5']);
  assert.equal(log.lines.filter((line) => line.message.startsWith('events dropped')).length, 1);
});

inWorld('a subscriber that changes what it got does not change what others get', async ({ bus }) => {
  const seen: EventEnvelope[] = [];
  bus.subscribe(all, (event) => {
    Object.assign(event.detail, { id: 'mine' });
  });
  bus.subscribe(all, (event) => void seen.push(event));
  const event = syncRequested(1);
  await bus.publish([event]);
  await bus.settled();
  assert.equal(seen[0]?.detail.id, 'event-1');
  assert.equal(event.detail.id, 'event-1');
});

inWorld('after unsubscribing nothing more is delivered, queued events included', async ({ bus }) => {
  const seen: EventEnvelope[] = [];
  const unsubscribe = bus.subscribe(all, (event) => {
    seen.push(event);
    unsubscribe();
  });
  await bus.publish([syncRequested(1), syncRequested(2)]);
  await bus.settled();
  await bus.publish([syncRequested(3)]);
  await bus.settled();
  assert.deepEqual(ids(seen), ['event-1']);
});

inWorld('with concurrency, one slow delivery does not hold up the next', async ({ bus }) => {
  const gate = Promise.withResolvers<void>();
  const seen: string[] = [];
  bus.subscribe(
    all,
    async (event) => {
      if (event.id === 'event-1') await gate.promise;
      seen.push(event.id);
      if (event.id === 'event-2') gate.resolve();
    },
    { concurrency: 2 },
  );
  await bus.publish([syncRequested(1), syncRequested(2)]);
  await bus.settled();
  assert.deepEqual(seen, ['event-2', 'event-1']);
});

inWorld(
  'of the events of one key only one waits, and one more comes after a delivery that has begun',
  async ({ bus }) => {
    const gate = Promise.withResolvers<void>();
    const seen: string[] = [];
    const others: string[] = [];
    bus.subscribe(
      all,
      async (event) => {
        seen.push(event.id);
        if (event.id === 'event-1') await gate.promise;
      },
      { keyOf: ({ id }) => (id === 'event-4' ? undefined : `${Number(id.slice('event-'.length)) % 2}`) },
    );
    bus.subscribe(all, ({ id }) => void others.push(id));
    await bus.publish([syncRequested(1)]);
    await until('the first is being delivered', { withinMs: 10_000, pollMs: 1 }, () => seen.length === 1);
    await bus.publish([3, 5, 2, 4, 6, 7].map((at) => syncRequested(at)));
    gate.resolve();
    await bus.settled();
    assert.deepEqual(seen, ['event-1', 'event-3', 'event-2', 'event-4']);
    assert.deepEqual(others, ['event-1', 'event-3', 'event-5', 'event-2', 'event-4', 'event-6', 'event-7']);
    await bus.publish([syncRequested(9)]);
    await bus.settled();
    assert.equal(seen.at(-1), 'event-9');
  },
);

test('an invalid pattern is refused when subscribing', () =>
  assert.throws(() => world().bus.subscribe({ source: 'probelet' }, () => {}), InvalidPattern));
