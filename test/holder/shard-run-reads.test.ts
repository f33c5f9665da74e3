import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fullReloadIntervalMs } from '../../shared/holder/load.ts';
import type { ShardMemory } from '../../shared/holder/shard-run.ts';
import { sleep } from '../../shared/lib/clock.ts';
import type { ShardMessage } from '../../shared/queue/queue.ts';
import { encodeLayout } from '../../shared/store/records/items.ts';
import { bucketPk, epochKey, targetAddress } from '../../shared/store/records/keys.ts';
import type { Item } from '../../shared/store/store.ts';
import { touchChanges } from '../../shared/table/change-counters.ts';
import { type ShardWorld, shardWorld } from '../support/shard-world.ts';

const minuteMs = 60_000;
const all = { shard: '00', from: 0, to: 256 };
const whole = { shard: '00', generation: 1, buckets: { from: 0, to: 256 } };

/** Runs over one store, with a network on which everything answers. */
async function runsWorld(targets: readonly string[]) {
  let [bucketReads, sliceReads, sliceMs] = [0, 0, 0];
  const world: ShardWorld = shardWorld({
    wrapStore: (store) => ({
      ...store,
      async query(query) {
        const isOfBucket = query.pk.startsWith(bucketPk(''));
        if (isOfBucket && query.from === undefined) bucketReads += 1;
        const items = await store.query(query);
        // A single target is read by its whole name.
        if (!isOfBucket || query.from === undefined || query.from.includes('#')) return items;
        sliceReads += 1;
        if (sliceMs > 0) await sleep(world.clock, sliceMs);
        return items;
      },
    }),
  });
  const { clock, store, random } = world;
  for (const name of targets) await world.put(name, { readinessProbe: { tcpSocket: { port: 1 } } });
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
    touch: (name: string) => touchChanges(world, targetAddress('default', name)),
    put: (item: Item) => store.write([{ kind: 'put', item }], { token: random.uuid() }),
    epochOf: async (name: string) => (await store.get(epochKey(targetAddress('default', name).bucket)))?.shard,
    async layout(
      generation: number,
      shards: readonly Pick<ShardMessage['buckets'] & { shard: string }, 'shard' | 'from' | 'to'>[],
    ) {
      const rows = shards.map((each) => ({ ...each, generation, mode: 'resident' as const, sinceMs: 0 }));
      const token = Number((await store.get({ pk: 'LAYOUT', sk: 'LAYOUT' }))?.token ?? 0);
      await this.put(encodeLayout({ token, version: generation, desiredRelease: '', shards: rows }));
    },
    /** A run of one minute. */
    async run(message: Pick<ShardMessage, 'shard' | 'generation' | 'buckets'>, memory: ShardMemory) {
      slot += 1;
      const run = await world.run({ ...message, slot, slotEndMs: clock.nowMs() + minuteMs }, {}, { memory });
      return clock.runUntil(run.ended);
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
  await world.layout(1, [all]);
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
  await world.layout(1, [all]);
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
  await world.layout(1, [all]);
  assert.deepEqual(await world.run(whole, memory), { kind: 'slotDone' });
  world.takeSliceReads(minuteMs);
  world.clock.setTimer(minuteMs / 2, () => void world.touch('one'));
  assert.deepEqual(await world.run(whole, memory), { kind: 'slotDone' });
  assert.equal(world.takeSliceReads(0), 1);
  assert.deepEqual(await world.run(whole, memory), { kind: 'slotDone' });
  assert.equal(world.takeSliceReads(0), 1);
});
