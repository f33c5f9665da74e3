/** Loading the targets of a shard: all of its buckets at the start, afterwards the slices whose counter moved. */
import { sleep } from '../lib/clock.ts';
import { pacer } from '../lib/pace.ts';
import { type Bucket, bucketPk, prefixEnd } from '../store/keys.ts';
import type { Item } from '../store/store.ts';
import { StoreUnavailable } from '../store/store.ts';
import { type ChangeCounters, changesIntervalMs, movedSlices, readChanges, type Slice } from './changes.ts';
import type { WrittenCheckpoints } from './checkpoint.ts';
import { storedCheckpoint } from './checkpoint-items.ts';
import { claimBuckets } from './claim.ts';
import type { Holder } from './holder.ts';
import { assembleTarget, groupedByTarget, type Poison } from './read-target.ts';
import { adoptTarget, type Checkpoints, dropTarget } from './roster.ts';

/** What no counter told of is found at the latest by reading everything again. */
export const fullReloadIntervalMs = 600_000;

/**
 * Of CPU in one turn of the event loop. Adopting a target takes up to 0.6 ms, and a bucket of them in one turn would delay every answer that
 * arrives meanwhile, by seconds on a small function.
 */
const adoptSliceMs = 5;

/** What a loader knows of its shard besides the targets; a warm start goes on with it. */
export type Loaded = {
  readonly checkpoints: Map<Bucket, Checkpoints>;
  poisoned: readonly Poison[];
  readonly written: WrittenCheckpoints;
  counters: ChangeCounters;
  /** When everything was last read, monotonic. */
  loadedAtMs: number;
};

/** Of a bucket, the keys that begin with the prefix. */
type Range = { readonly bucket: Bucket; readonly prefix: string };

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
  poisoned: [],
  written: new Map(),
  counters: new Map(),
  loadedAtMs: Number.NEGATIVE_INFINITY,
});

export function shardLoader(holder: Holder, loaded: Loaded = nothingLoaded()): Loader {
  const { run } = holder;
  const { clock, store, log } = run.ports;
  const { checkpoints } = loaded;
  const pace = pacer(clock, adoptSliceMs);

  async function loadAll(): Promise<boolean> {
    // A bucket's first target touches its counter before it is written, so whoever reads the counters first misses none.
    const beganAtMs = clock.monotonicMs();
    const counters = await readChanges(store, run.message.buckets, false);
    if (!(await loadBuckets([...counters.keys()]))) return false;
    loaded.counters = counters;
    loaded.loadedAtMs = beganAtMs;
    return true;
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
      if (!checkpoints.has(bucket)) rememberCheckpoint(bucket, items);
      await adopt(bucket, '', items);
    }
    return !run.ended();
  }

  function rememberCheckpoint(bucket: Bucket, items: readonly Item[]): void {
    const { entries, written } = storedCheckpoint(items);
    checkpoints.set(bucket, entries);
    loaded.written.set(bucket, written);
  }

  /** `prefix`: what all the keys that were read begin with; held targets of it that were not read are gone. */
  async function adopt(bucket: Bucket, prefix: string, items: readonly Item[]): Promise<void> {
    const groups = groupedByTarget(items);
    for (const held of holder.targets.values()) {
      const inRange = held.address.bucket === bucket && held.address.prefix.startsWith(prefix);
      if (inRange && !groups.has(held.address.prefix)) dropTarget(holder, held);
    }
    const poison: Poison[] = [];
    for (const [address, group] of groups) {
      await pace();
      if (run.ended()) return;
      const read = assembleTarget(group);
      poison.push(...read.poison);
      if (read.target) adoptTarget(holder, read.target, checkpoints.get(bucket) ?? {});
      else dropHeld(address);
    }
    quarantine({ bucket, prefix }, poison);
  }

  function dropHeld(prefix: string): void {
    const held = holder.targets.get(prefix);
    if (held) dropTarget(holder, held);
  }

  /** What was read of a range is all that is poisoned in it. */
  function quarantine({ bucket, prefix }: Range, poison: readonly Poison[]): void {
    const isInRange = ({ key }: Poison) => key.pk === bucketPk(bucket) && key.sk.startsWith(prefix);
    const before = new Set(loaded.poisoned.filter(isInRange).map(({ key }) => key.sk));
    for (const { key, detail } of poison)
      if (!before.has(key.sk)) log.error('poison item quarantined', { key, detail });
    loaded.poisoned = [...loaded.poisoned.filter((known) => !isInRange(known)), ...poison];
  }

  async function loadSlice({ bucket, slice }: Slice): Promise<void> {
    const prefix = bucket + slice;
    await adopt(bucket, prefix, await store.query({ pk: bucketPk(bucket), from: prefix, to: prefix + prefixEnd }));
  }

  async function followOnce(eventuallyConsistent: boolean): Promise<boolean> {
    const now = await readChanges(store, run.message.buckets, eventuallyConsistent);
    const slices = movedSlices(loaded.counters, now);
    const fresh = [...new Set(slices.map(({ bucket }) => bucket))].filter((bucket) => !checkpoints.has(bucket));
    if (fresh.length > 0 && !(await loadBuckets(fresh))) return false;
    for (const slice of slices) if (!fresh.includes(slice.bucket)) await loadSlice(slice);
    // A run that ended meanwhile has not adopted what it read, and the next one goes on with these counters.
    if (run.ended()) return false;
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
        log.warn('changes not read', { shard: run.message.shard, cause: error });
      }
    }
  }

  return {
    loadAll,
    catchUp,
    loaded: () => loaded,
    follow,
    quarantined: () => loaded.poisoned,
  };
}
