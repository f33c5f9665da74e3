/** Loading the targets of a shard: all of its buckets at the start, afterwards the slices whose counter moved. */
import { sleep } from '../lib/clock.ts';
import { decodeCheckpoint } from '../store/items.ts';
import { type Bucket, bucketPk, checkpointKey, prefixEnd } from '../store/keys.ts';
import type { Item } from '../store/store.ts';
import { StoreUnavailable } from '../store/store.ts';
import { type ChangeCounters, changesIntervalMs, movedSlices, readChanges, type Slice } from './changes.ts';
import { claimBuckets } from './claim.ts';
import type { Holder } from './holder.ts';
import { assembleTargets, type Poison } from './read-target.ts';
import { adoptTarget, type Checkpoints, dropTarget } from './roster.ts';

/** What no counter told of is found at the latest by reading everything again. */
export const fullReloadIntervalMs = 600_000;

export type Loader = {
  /** Claims and loads every bucket that has targets; false: fenced. */
  loadAll(): Promise<boolean>;
  /** Follows the change counters until the run ends. */
  follow(): Promise<void>;
  /** What was written last into the bucket's CHECKPOINT item. */
  checkpoints(): ReadonlyMap<Bucket, Checkpoints>;
  quarantined(): readonly Poison[];
};

export function shardLoader(holder: Holder): Loader {
  const { run } = holder;
  const { clock, store, log } = run.ports;
  const checkpoints = new Map<Bucket, Checkpoints>();
  const poisoned = new Map<string, readonly Poison[]>();
  let counters: ChangeCounters = new Map();

  async function loadAll(): Promise<boolean> {
    counters = await readChanges(store, run.message.buckets, false);
    return loadBuckets([...counters.keys()]);
  }

  async function loadBuckets(buckets: readonly Bucket[]): Promise<boolean> {
    const unclaimed = buckets.filter((bucket) => !checkpoints.has(bucket));
    if (!(await claimBuckets(run, unclaimed))) {
      run.end({ kind: 'fenced' });
      return false;
    }
    for (const bucket of buckets) {
      const items = await store.query({ pk: bucketPk(bucket) });
      if (run.ended()) return false;
      if (!checkpoints.has(bucket)) checkpoints.set(bucket, checkpointsOf(items));
      adopt(bucket, '', items);
    }
    return true;
  }

  /** `prefix`: what all the keys that were read begin with; held targets of it that were not read are gone. */
  function adopt(bucket: Bucket, prefix: string, items: readonly Item[]): void {
    const { targets, poison } = assembleTargets(items);
    quarantine(bucket + prefix, poison);
    const found = new Set(targets.map((read) => read.address.prefix));
    for (const held of holder.targets.values()) {
      const inRange = held.address.bucket === bucket && held.address.prefix.startsWith(prefix);
      if (inRange && !found.has(held.address.prefix)) dropTarget(holder, held);
    }
    for (const read of targets) adoptTarget(holder, read, checkpoints.get(bucket) ?? {});
  }

  function quarantine(range: string, poison: readonly Poison[]): void {
    const before = new Set((poisoned.get(range) ?? []).map(({ key }) => key.sk));
    for (const { key, detail } of poison)
      if (!before.has(key.sk)) log.error('poison item quarantined', { key, detail });
    poisoned.set(range, poison);
  }

  async function loadSlice({ bucket, slice }: Slice): Promise<void> {
    const prefix = bucket + slice;
    adopt(bucket, prefix, await store.query({ pk: bucketPk(bucket), from: prefix, to: prefix + prefixEnd }));
  }

  async function followOnce(): Promise<void> {
    const now = await readChanges(store, run.message.buckets, true);
    const slices = movedSlices(counters, now);
    const fresh = [...new Set(slices.map(({ bucket }) => bucket))].filter((bucket) => !checkpoints.has(bucket));
    if (fresh.length > 0 && !(await loadBuckets(fresh))) return;
    for (const slice of slices) if (!fresh.includes(slice.bucket)) await loadSlice(slice);
    counters = now;
  }

  async function follow(): Promise<void> {
    let loadedAtMs = clock.monotonicMs();
    while (!run.ended()) {
      await sleep(clock, changesIntervalMs, run.signal);
      if (run.ended()) return;
      try {
        if (clock.monotonicMs() - loadedAtMs < fullReloadIntervalMs) await followOnce();
        else if (await loadAll()) loadedAtMs = clock.monotonicMs();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        log.warn('changes not read', { shard: run.message.shard, cause: error.message });
      }
    }
  }

  return { loadAll, follow, checkpoints: () => checkpoints, quarantined: () => [...poisoned.values()].flat() };
}

function checkpointsOf(items: readonly Item[]): Checkpoints {
  const item = items.find(({ sk }) => sk === checkpointKey('').sk);
  const decoded = item && decodeCheckpoint(item);
  // A checkpoint that cannot be read costs run lengths, as a crash would: later detection, never a false trip.
  return decoded?.kind === 'ok' ? decoded.record.entries : {};
}
