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

/** What a loader knows of its shard besides the targets; a warm start goes on with it. */
export type Loaded = {
  readonly checkpoints: Map<Bucket, Checkpoints>;
  readonly poisoned: Map<string, readonly Poison[]>;
  /** The text of each CHECKPOINT item as it stands in the store. */
  readonly written: Map<Bucket, string>;
  counters: ChangeCounters;
  /** When everything was last read, monotonic. */
  loadedAtMs: number;
};

export type Loader = {
  /** Claims and loads every bucket that has targets; false: fenced. */
  loadAll(): Promise<boolean>;
  /** Claims every bucket that was loaded, and reads again what has moved since, strongly consistent; false: fenced. */
  catchUp(): Promise<boolean>;
  /** For the next run of this process. */
  loaded(): Loaded;
  /** Follows the change counters until the run ends. */
  follow(): Promise<void>;
  quarantined(): readonly Poison[];
};

const nothingLoaded = (): Loaded => ({
  checkpoints: new Map(),
  poisoned: new Map(),
  written: new Map(),
  counters: new Map(),
  loadedAtMs: Number.NEGATIVE_INFINITY,
});

export function shardLoader(holder: Holder, loaded: Loaded = nothingLoaded()): Loader {
  const { run } = holder;
  const { clock, store, log } = run.ports;
  const { checkpoints, poisoned } = loaded;

  async function loadAll(): Promise<boolean> {
    // A bucket's first target touches its counter before it is written, so whoever reads the counters first misses none.
    const beganAtMs = clock.monotonicMs();
    loaded.counters = await readChanges(store, run.message.buckets, false);
    const isLoaded = await loadBuckets([...loaded.counters.keys()]);
    if (isLoaded) loaded.loadedAtMs = beganAtMs;
    return isLoaded;
  }

  const isOld = (): boolean => clock.monotonicMs() - loaded.loadedAtMs >= fullReloadIntervalMs;

  async function catchUp(): Promise<boolean> {
    return (await claim([...checkpoints.keys()])) && (isOld() ? loadAll() : followOnce(false));
  }

  async function claim(buckets: readonly Bucket[]): Promise<boolean> {
    const claimed = await claimBuckets(run, buckets);
    if (!claimed) run.end({ kind: 'fenced' });
    return claimed;
  }

  async function loadBuckets(buckets: readonly Bucket[]): Promise<boolean> {
    const unclaimed = buckets.filter((bucket) => !checkpoints.has(bucket));
    if (!(await claim(unclaimed))) return false;
    for (const bucket of buckets) {
      const items = await store.query({ pk: bucketPk(bucket) });
      if (run.ended()) return false;
      if (!checkpoints.has(bucket)) rememberCheckpoint(bucket, checkpointsOf(items));
      adopt(bucket, '', items);
    }
    return true;
  }

  function rememberCheckpoint(bucket: Bucket, entries: Checkpoints): void {
    checkpoints.set(bucket, entries);
    loaded.written.set(bucket, JSON.stringify(entries));
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

  async function followOnce(eventuallyConsistent: boolean): Promise<boolean> {
    const now = await readChanges(store, run.message.buckets, eventuallyConsistent);
    const slices = movedSlices(loaded.counters, now);
    const fresh = [...new Set(slices.map(({ bucket }) => bucket))].filter((bucket) => !checkpoints.has(bucket));
    if (fresh.length > 0 && !(await loadBuckets(fresh))) return false;
    for (const slice of slices) if (!fresh.includes(slice.bucket)) await loadSlice(slice);
    loaded.counters = now;
    return true;
  }

  async function follow(): Promise<void> {
    while (!run.ended()) {
      await sleep(clock, changesIntervalMs, run.signal);
      if (run.ended()) return;
      try {
        if (isOld()) await loadAll();
        else await followOnce(true);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        log.warn('changes not read', { shard: run.message.shard, cause: error.message });
      }
    }
  }

  return {
    loadAll,
    catchUp,
    loaded: () => loaded,
    follow,
    quarantined: () => [...poisoned.values()].flat(),
  };
}

function checkpointsOf(items: readonly Item[]): Checkpoints {
  const item = items.find(({ sk }) => sk === checkpointKey('').sk);
  const decoded = item && decodeCheckpoint(item);
  // A checkpoint that cannot be read costs run lengths, as a crash would: later detection, never a false trip.
  return decoded?.kind === 'ok' ? decoded.record.entries : {};
}
