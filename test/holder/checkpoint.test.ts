/** Checkpoints of buckets that are too large for one item, and of those that cannot be stored at all. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type CheckpointEntries,
  checkpointer,
  checkpointIntervalMs,
  checkpointParts,
  storedCheckpoint,
  writeCheckpoints,
} from '../../shared/holder/checkpoint.ts';
import type { Holder } from '../../shared/holder/holder.ts';
import { sleep } from '../../shared/lib/clock.ts';
import { itemBytes, itemBytesMax } from '../../shared/store/item-size.ts';
import { encodeEpoch } from '../../shared/store/records/items.ts';
import { bucketPk, checkpointKey, targetAddress } from '../../shared/store/records/keys.ts';
import type { Store } from '../../shared/store/store.ts';
import { longestEntries } from '../support/longest-entries.ts';
import { failing, healthy, probedWorld, type ShardWorld, shardWorld } from '../support/shard-world.ts';
import { beforeWrite } from '../support/store-wraps.ts';

const bucket = '3c';

async function checkpointWorld(wrapStore?: (store: Store) => Store) {
  const world = shardWorld(wrapStore && { wrapStore });
  const run = world.bareRun(1);
  const epoch = encodeEpoch(bucket, { token: 1, shard: '00', claimedAtMs: 0 });
  await world.store.write([{ kind: 'put', item: epoch }], { token: 'epoch' });
  const written = new Map<string, readonly string[]>();
  return {
    ...world,
    run,
    written,
    write: (entries: CheckpointEntries) =>
      world.clock.runUntil(writeCheckpoints(run, new Map([[bucket, entries]]), written)),
    items: () => world.store.query({ pk: bucketPk(bucket) }),
  };
}

test('the checkpoint of 20,000 targets of one bucket with the longest names is stored, and read again', async () => {
  const { write, items, written, run } = await checkpointWorld();
  const entries = longestEntries(bucket, 20_000);
  await write(entries);
  const stored = await items();
  assert.ok(stored.length > 20, `${stored.length} items`);
  for (const item of stored) assert.ok(itemBytes(item) <= itemBytesMax, `${item.sk} has ${itemBytes(item)} bytes`);
  for (const item of stored.slice(0, -1)) assert.ok(itemBytes(item) > itemBytesMax / 2, `${item.sk} is half empty`);
  const read = storedCheckpoint(stored);
  assert.deepEqual(read.entries, entries);
  assert.deepEqual(read.written, written.get(bucket));
  assert.equal(run.ended(), undefined);
});

test('items that are not needed any more lose their entries, and what stayed the same is not written again', async () => {
  let writes = 0;
  const counting = beforeWrite(() => {
    writes += 1;
    return undefined;
  });
  const { write, items } = await checkpointWorld(counting);
  const entries = longestEntries(bucket, 2_000);
  await write(entries);
  const { length } = await items();
  assert.ok(length > 3);
  writes = 0;
  await write(entries);
  assert.equal(writes, 0);
  const few = Object.fromEntries(Object.entries(entries).toSorted().slice(0, 3));
  await write(few);
  assert.deepEqual(storedCheckpoint(await items()).entries, few);
});

test('entries lie in their items in the order of their keys, in whatever order they come', () => {
  const entries = Object.entries(longestEntries(bucket, 500));
  const keys = entries.map(([sk]) => sk).toSorted();
  const shuffled = entries.toSorted(([one], [other]) => (one.split('').reverse().join('') < other ? -1 : 1));
  for (const order of [entries, entries.toReversed(), shuffled]) {
    const parts = checkpointParts(Object.fromEntries(order));
    assert.ok(parts.length > 1);
    assert.deepEqual(parts.flatMap(Object.keys), keys);
  }
});

test('an entry that a crash left in two items counts as it was written last', () => {
  const [[sk, entry] = ['', undefined]] = Object.entries(longestEntries(bucket, 1));
  assert.ok(entry);
  const grown = { ...entry, resultRun: entry.resultRun + 1 };
  const broken = { ...grown, streak: 8, resultRun: 9 };
  const nextStreak = { ...broken, streak: 9, resultRun: 1 };
  const itemOf = (part: number, own: typeof entry) => ({
    ...checkpointKey(bucket, part),
    kind: 'CHECKPOINT',
    schemaVersion: 1,
    entries: { [sk]: own },
  });
  for (const [first, second] of [
    [entry, grown],
    [broken, nextStreak],
  ] as const) {
    assert.deepEqual(storedCheckpoint([itemOf(0, first), itemOf(2, second)]).entries, { [sk]: second });
    assert.deepEqual(storedCheckpoint([itemOf(0, second), itemOf(2, first)]).entries, { [sk]: second });
  }
  const texts = ['{}', '{}', JSON.stringify({ [sk]: entry })];
  assert.deepEqual(storedCheckpoint([itemOf(2, entry)]).written, texts);
});

describe('a checkpoint that cannot be stored', () => {
  test('is logged; the others are written, and the run continues', async () => {
    const refusing = beforeWrite((operations) => {
      const isRefused = operations.some((one) => one.kind === 'put' && JSON.stringify(one).includes('#0001"'));
      if (isRefused) throw new Error('no store could do that');
      return undefined;
    });
    const { write, items, run, log } = await checkpointWorld(refusing);
    await write(longestEntries(bucket, 2_000));
    const parts = (await items()).map(({ sk }) => sk);
    assert.ok(parts.includes('CHECKPOINT') && !parts.includes('CHECKPOINT#0001') && parts.includes('CHECKPOINT#0002'));
    assert.equal(run.ended(), undefined);
    assert.equal(log.lines.filter(({ level }) => level === 'error').length, 1);
  });
});

/**
 * Of 20 targets, those that a run which is ended after so long says its successor owes; each write of a checkpoint
 * takes its time.
 */
async function pendingAfter(runMs: number, writeMs: number): Promise<readonly string[]> {
  const world: ShardWorld = await probedWorld({
    targets: 0,
    wrapStore: beforeWrite(async (operations) => {
      const isCheckpoint = operations.some((each) => each.kind === 'put' && each.item.kind === 'CHECKPOINT');
      if (isCheckpoint) await sleep(world.clock, writeMs);
      return undefined;
    }),
  });
  const names = Array.from({ length: 20 }, (_, at) => `cart-${at}`);
  const probe = { tcpSocket: { port: 1 }, periodSeconds: 30 };
  // The readiness probe is triggered by the startup probe's success, and off its phase from then on.
  const spec = { host: '10.0.0.1', startupProbe: { ...probe, periodSeconds: 1 }, readinessProbe: probe };
  for (const name of names) await world.put(name, spec);
  const run = await world.hold({ cold: true });
  await world.clock.advance(runMs);
  await run.stop();
  const buckets = names.map((name) => targetAddress('default', name).bucket);
  const stored = await Promise.all([...new Set(buckets)].map((each) => world.store.query({ pk: bucketPk(each) })));
  const entries = stored.flatMap((items) => Object.entries(storedCheckpoint(items).entries));
  return entries.flatMap(([key, { owed: pending }]) => (pending ? [key] : [])).toSorted();
}

test('a probe whose run length stands in its PROBE item takes no part of the checkpoint', async () => {
  const world = await probedWorld({ targets: 20, probe: { failureThreshold: 3 } });
  let isFailing = false;
  world.answer((_, port) => (isFailing && port === 7 ? failing : healthy));
  const run = await world.run();
  await world.clock.advance(60_000);
  isFailing = true;
  await world.clock.advance(20_000);
  await run.stop();
  const names = Array.from({ length: 20 }, (_, at) => `target-${at + 1}`);
  const ofBuckets = new Map(names.map((name) => [targetAddress('default', name).bucket, name]));
  const entries = (await Promise.all([...ofBuckets.values()].map(world.checkpoint))).flat();
  assert.equal(entries.length, 1);
});

test('what has changed is written once a minute', async () => {
  const { clock, run, write, items, written } = await checkpointWorld();
  await write(longestEntries(bucket, 1));
  const holder = { run, targets: new Map() } as unknown as Holder;
  const { keep } = checkpointer(holder, () => written);
  const kept = keep();
  for (const [ms, targets] of [
    [checkpointIntervalMs - 1_000, 1],
    [2_000, 0],
  ] as const) {
    // As if it had beaten all the while.
    run.confirm(clock.monotonicMs() + ms);
    await clock.advance(ms);
    const entries = Object.keys(storedCheckpoint(await items()).entries);
    assert.equal(entries.length, 3 * targets, `after ${clock.monotonicMs()} ms`);
  }
  run.end({ kind: 'slotDone' });
  await kept;
});

test('nothing overwrites the last checkpoint of a run, which alone says what its successor owes', async () => {
  const writeMs = 40;
  const pending = await pendingAfter(checkpointIntervalMs / 2 - writeMs, writeMs);
  assert.ok(pending.length > 10, `${pending.length} of 20`);
  // The minute's write begins before the last one, and while it is under way. A period later everything is due as
  // before.
  for (const leadMs of [-writeMs / 2, writeMs / 2, writeMs, 10 * writeMs]) {
    const again = await pendingAfter(checkpointIntervalMs - leadMs, writeMs);
    assert.deepEqual(again, pending, `${leadMs} ms before the minute`);
  }
});
