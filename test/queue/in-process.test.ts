import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import { type InProcessQueueOptions, inProcessQueue } from '../../shared/queue/in-process.ts';
import { deduplicationWindowMs, QueueUnavailable } from '../../shared/queue/queue.ts';
import { decodeShardMessage } from '../../shared/queue/shard-message.ts';
import { contractVisibilityMs, queueContract } from '../contract/queue.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { shardMessage } from '../support/shard-messages.ts';
import { testsIn } from '../support/tests-in.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const retentionMs = 3_600_000;

queueContract('the queue in one process, under a virtual clock,', {
  open() {
    const clock = virtualClock();
    const queue = inProcessQueue({ clock, visibilityMs: contractVisibilityMs, retentionMs });
    return { queue, play: (promise) => clock.runUntil(promise), pass: (ms) => clock.advance(ms) };
  },
});

queueContract('the queue in one process, in real time,', {
  open: () => ({
    queue: inProcessQueue({ clock: systemClock, visibilityMs: contractVisibilityMs, retentionMs }),
    play: (promise) => promise,
    pass: (ms) => sleep(systemClock, ms),
  }),
  concurrency: 20,
});

const visibilityMs = 15_000;

function bench(options: Partial<InProcessQueueOptions> = {}) {
  const clock = virtualClock();
  const queue = inProcessQueue({ clock, visibilityMs, retentionMs, ...options });
  let ids = 0;
  const send = (group: string, slot: number, deduplicationId?: string) => {
    ids += 1;
    return queue.send(shardMessage({ slot }), { group, deduplicationId: deduplicationId ?? `id-${ids}` });
  };
  const next = async (waitMs = 0) => {
    const received = await clock.runUntil(queue.receive(waitMs));
    assert.ok(received, 'a message');
    return received;
  };
  const slotOf = ({ body }: { readonly body: string }) => {
    const decoded = decodeShardMessage(body);
    return decoded.kind === 'ok' && decoded.message.slot;
  };
  return { clock, queue, send, next, slotOf };
}

const inBench = testsIn(() => bench());

describe('a handle of the queue in one process', () => {
  inBench('ends with its visibility, also while nobody else has the message', async ({ clock, send, next }) => {
    await send('a', 1);
    const received = await next();
    await clock.advance(visibilityMs - 1);
    assert.equal(await received.lease.extend(visibilityMs), true);
    await clock.advance(visibilityMs);
    assert.equal(await received.lease.extend(visibilityMs), false);
    assert.equal(await received.acknowledge(), false);
    assert.equal((await next()).receiveCount, 2);
  });

  inBench('ends at a hand-over, also before the message is delivered again', async ({ send, next }) => {
    await send('a', 1);
    const received = await next();
    assert.equal(await received.lease.extend(0), true);
    assert.equal(await received.lease.extend(visibilityMs), false);
    assert.equal(await received.acknowledge(), false);
  });
});

describe('retention', () => {
  inBench('takes a message that nobody received', async ({ clock, queue, send }) => {
    await send('a', 1);
    await clock.advance(retentionMs);
    assert.equal(await queue.receive(0), undefined);
  });

  test('takes a message in flight too, and frees its group at that moment for who waits', async () => {
    const { clock, send, next, slotOf } = bench();
    await send('a', 1);
    await clock.advance(600_000);
    await send('a', 2);
    const first = await next();
    assert.equal(await first.lease.extend(2 * retentionMs), true);
    const startedAtMs = clock.monotonicMs();
    const second = await next(retentionMs);
    assert.equal(slotOf(second), 2);
    assert.equal(clock.monotonicMs() - startedAtMs, retentionMs - 600_000);
    assert.equal(await first.lease.extend(visibilityMs), false);
    assert.equal(await first.acknowledge(), false);
    assert.equal(await second.acknowledge(), true);
  });
});

test('an id can be used again when its window is over, counted from the first send', async () => {
  const { clock, queue, send, next, slotOf } = bench();
  await send('a', 1, 'same');
  assert.equal(await (await next()).acknowledge(), true);
  await clock.advance(deduplicationWindowMs - 1);
  await send('a', 2, 'same');
  assert.equal(await queue.receive(0), undefined);
  await clock.advance(1);
  await send('a', 3, 'same');
  assert.equal(slotOf(await next()), 3);
});

test('a message that was delivered again comes before younger ones of other groups', async () => {
  const { clock, send, next } = bench();
  await send('a', 1);
  await clock.advance(1);
  await send('b', 2);
  await (await next()).lease.extend(0);
  assert.equal((await next()).group, 'a');
});

test('with chance, any group may come first, and a seed repeats it', async () => {
  const groups = [...'abcdefgh'];
  const order = async (seed: number) => {
    const { send, next } = bench({ random: seededRandom(seed) });
    for (const group of groups) await send(group, 1);
    const received: string[] = [];
    for (const _ of groups) received.push((await next()).group);
    return received;
  };
  assert.deepEqual((await order(1)).toSorted(), groups);
  assert.notDeepEqual(await order(1), groups);
  assert.deepEqual(await order(1), await order(1));
  assert.notDeepEqual(await order(1), await order(2));
});

inBench('a queue that nobody waits for sets no timer', async ({ clock, queue, send, next }) => {
  const stop = new AbortController();
  await send('a', 1);
  await next();
  const waiting = queue.receive(60_000, stop.signal);
  assert.notEqual(clock.pending(), 0);
  stop.abort();
  await waiting;
  assert.equal(clock.pending(), 0);
  assert.equal(await clock.runUntil(queue.receive(1)), undefined);
  assert.equal(clock.pending(), 0);
});

inBench('a full queue refuses service, and takes messages again when there is room', async ({ send, next }) => {
  const full = async () => {
    for (let sent = 0; sent < 20_000; sent += 1) await send('a', sent);
  };
  await assert.rejects(full, QueueUnavailable);
  await (await next()).acknowledge();
  await send('a', 1);
});
