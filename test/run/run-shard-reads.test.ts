import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '../../shared/lib/clock.ts';
import type { ShardMessage } from '../../shared/queue/queue.ts';
import { fullReloadIntervalMs } from '../../shared/run/load.ts';
import type { ShardMemory } from '../../shared/run/memory.ts';
import type { Ports } from '../../shared/run/ports.ts';
import { runShard } from '../../shared/run/run-shard.ts';
import { encodeLayout } from '../../shared/store/items.ts';
import { bucketPk, epochKey, targetAddress } from '../../shared/store/keys.ts';
import type { Item, Store } from '../../shared/store/store.ts';
import { touchChanges } from '../../shared/table/change-counters.ts';
import { apiWorld, manifest, targetPath } from '../api/world.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const minuteMs = 60_000;

/** Runs over one store under a virtual clock, with a network on which everything answers. */
async function runsWorld(targets: readonly string[]) {
  const api = apiWorld();
  for (const name of targets)
    assert.equal((await api.request('PUT', targetPath(name), { body: manifest() })).status, 201);
  const clock = virtualClock();
  let [bucketReads, sliceReads, sliceMs] = [0, 0, 0];
  const store: Store = {
    ...api.store,
    async query(query) {
      const isOfBucket = query.pk.startsWith(bucketPk(''));
      if (isOfBucket && query.from === undefined) bucketReads += 1;
      const items = await api.store.query(query);
      // A single target is read by its whole name.
      if (!isOfBucket || query.from === undefined || query.from.includes('#')) return items;
      sliceReads += 1;
      if (sliceMs > 0) await sleep(clock, sliceMs);
      return items;
    },
  };
  const healthy = async () => ({ outcome: 'success', output: 'ok', timings: { totalMs: 1 } }) as const;
  const ports: Ports = {
    clock,
    random: seededRandom(1),
    log: recordingLog(),
    store,
    bus: { publish: async () => ({ failed: [] }) },
    lease: { extend: async () => true },
    dial: async () => ({ kind: 'failed', failureClass: 'CONNECT_REFUSED', message: 'refused' }),
    resolve: async () => ({ kind: 'notFound', message: 'no names here' }),
    canaries: [],
    probers: { http: healthy, tcp: healthy, grpc: healthy, exec: healthy },
    metrics: { observe: () => undefined, remove: () => undefined },
    abandon: () => undefined,
  };
  let slot = 0;
  return {
    clock,
    /** Queries of whole buckets since the last look. */
    takeBucketReads() {
      const reads = bucketReads;
      bucketReads = 0;
      return reads;
    },
    /** Queries of what has changed since the last look, and how long each takes from now on. */
    takeSliceReads(ms: number) {
      const reads = sliceReads;
      [sliceReads, sliceMs] = [0, ms];
      return reads;
    },
    /** Counted as a change, whatever it is. */
    touch: (name: string) => touchChanges(ports, targetAddress('default', name)),
    put: (item: Item) => api.store.write([{ kind: 'put', item }], { token: ports.random.uuid() }),
    epochOf: async (name: string) => (await api.store.get(epochKey(targetAddress('default', name).bucket)))?.shard,
    async layout(
      generation: number,
      shards: readonly Pick<ShardMessage['buckets'] & { shard: string }, 'shard' | 'from' | 'to'>[],
    ) {
      const rows = shards.map((each) => ({ ...each, generation, mode: 'resident' as const, sinceMs: 0 }));
      const token = Number((await api.store.get({ pk: 'LAYOUT', sk: 'LAYOUT' }))?.token ?? 0);
      await this.put(encodeLayout({ token, version: generation, desiredRelease: '', shards: rows }));
    },
    /** A run of one minute. */
    run(message: Pick<ShardMessage, 'shard' | 'generation' | 'buckets'>, memory: ShardMemory) {
      slot += 1;
      const slotEndMs = clock.nowMs() + minuteMs;
      const whole: ShardMessage = { ...message, kind: 'slot', slot, slotEndMs, sentAtMs: clock.nowMs() };
      return clock.runUntil(runShard(ports, whole, slotEndMs, { memory }));
    },
  };
}

test('a process that starts warm claims no bucket that its shard had in another generation', async () => {
  const names = ['one', 'two', 'three', 'four', 'five', 'six'];
  const bucketOf = (name: string) => Number.parseInt(targetAddress('default', name).bucket, 16);
  const [low = '', high = ''] = [
    names.find((name) => bucketOf(name) < 128),
    names.find((name) => bucketOf(name) >= 128),
  ];
  const world = await runsWorld([low, high]);
  const memory: ShardMemory = new Map();
  await world.layout(1, [{ shard: '00', from: 0, to: 256 }]);
  const whole = { shard: '00', generation: 1, buckets: { from: 0, to: 256 } };
  assert.deepEqual(await world.run(whole, memory), { kind: 'slotDone' });

  await world.layout(2, [
    { shard: '00', from: 0, to: 128 },
    { shard: '80', from: 128, to: 256 },
  ]);
  const upper = { shard: '80', generation: 2, buckets: { from: 128, to: 256 } };
  assert.deepEqual(await world.run(upper, new Map()), { kind: 'slotDone' });
  const lower = { shard: '00', generation: 2, buckets: { from: 0, to: 128 } };
  assert.deepEqual(await world.run(lower, memory), { kind: 'slotDone' });
  assert.equal(await world.epochOf(low), '00');
  assert.equal(await world.epochOf(high), '80');
});

test('a process that starts warm reads no bucket in which nothing has changed, unless all was read long ago', async () => {
  const world = await runsWorld(['one', 'two', 'three']);
  const memory: ShardMemory = new Map();
  await world.layout(1, [{ shard: '00', from: 0, to: 256 }]);
  const whole = { shard: '00', generation: 1, buckets: { from: 0, to: 256 } };
  const readsOfRun = async () => {
    assert.deepEqual(await world.run(whole, memory), { kind: 'slotDone' });
    return world.takeBucketReads();
  };
  assert.equal(await readsOfRun(), 3);
  assert.equal(await readsOfRun(), 0);
  await world.clock.advance(fullReloadIntervalMs);
  assert.equal(await readsOfRun(), 3);
});

test('what a run was reading when it ended is read again by the next one', async () => {
  const world = await runsWorld(['one']);
  const memory: ShardMemory = new Map();
  await world.layout(1, [{ shard: '00', from: 0, to: 256 }]);
  const whole = { shard: '00', generation: 1, buckets: { from: 0, to: 256 } };
  assert.deepEqual(await world.run(whole, memory), { kind: 'slotDone' });
  world.takeSliceReads(minuteMs);
  world.clock.setTimer(minuteMs / 2, () => void world.touch('one'));
  assert.deepEqual(await world.run(whole, memory), { kind: 'slotDone' });
  assert.equal(world.takeSliceReads(0), 1);
  assert.deepEqual(await world.run(whole, memory), { kind: 'slotDone' });
  assert.equal(world.takeSliceReads(0), 1);
});
