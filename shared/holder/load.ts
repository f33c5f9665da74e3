/** Loads the targets of a shard: all of its buckets at the start, afterwards the slices whose counter moved. */

import { sleep } from '../lib/clock.ts';
import { pacer } from '../lib/slices.ts';
import type { Poison } from '../store/records/items.ts';
import { type Bucket, bucketPk, prefixEnd } from '../store/records/keys.ts';
import { type Item, StoreUnavailable } from '../store/store.ts';
import { whileThrottled } from '../store/throttled.ts';
import {
  type ChangeCounters,
  changesIntervalMs,
  movedSlices,
  readChanges,
  type Slice,
} from '../table/change-counters.ts';
import { assembleTarget, groupedByTarget, type ReadTarget, readTarget, readTargets } from '../table/targets.ts';
import { storedCheckpoint, type WrittenCheckpoints } from './checkpoint.ts';
import { claimBuckets } from './claim.ts';
import type { HeldRange, HeldTargets } from './held-targets.ts';
import type { HeldTarget } from './probing/held.ts';
import { adoptTarget, type Checkpoints, dropTarget, type Reconciling } from './probing/reconcile.ts';
import type { Run } from './run.ts';

/** Everything is read again at this interval, to find changes that no counter has shown. */
export const fullReloadIntervalMs = 600_000;

/**
 * CPU time in one turn of the event loop. Adopting a target takes up to 0.6 ms. A whole bucket in one turn would delay
 * every answer that arrives meanwhile, by seconds on a small function.
 */
const adoptSliceMs = 5;

/** What a loader knows about its shard besides the targets. A warm start continues with it. */
export type Loaded = {
  readonly checkpoints: Map<Bucket, Checkpoints>;
  poisoned: readonly Poison[];
  readonly written: WrittenCheckpoints;
  counters: ChangeCounters;
  /** When everything was last read, monotonic. */
  loadedAtMs: number;
};

export type Loader = {
  /** Claims and loads every bucket that has targets. Returns false if the run is fenced. */
  loadAll(): Promise<boolean>;
  /**
   * Of a warm run: reads what has changed since its memory, strongly consistent. Buckets that it has loaded before are
   * claimed when it writes to them. Returns false if the run is fenced.
   */
  catchUp(): Promise<boolean>;
  /** What the next run of this process continues with. */
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

export function shardLoader(holder: Reconciling, loaded: Loaded = nothingLoaded()): Loader {
  const { clock, log } = holder.run.ports;
  const loading: Loading = { holder, loaded, pace: pacer(clock, adoptSliceMs) };
  const isOld = (): boolean => clock.monotonicMs() - loaded.loadedAtMs >= fullReloadIntervalMs;
  const follow = async () => {
    const { run } = holder;
    while (!run.ended()) {
      await sleep(clock, changesIntervalMs, run.signal);
      if (run.ended()) return;
      try {
        if (isOld()) await loadAll(loading);
        else await followOnce(loading, true);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        log.warn('changes not read', { shard: run.message.shard, cause: error });
      }
    }
  };
  return {
    loadAll: () => loadAll(loading),
    catchUp: () => (isOld() ? loadAll(loading) : followOnce(loading, false)),
    loaded: () => loaded,
    follow,
    quarantined: () => loaded.poisoned,
  };
}

type Loading = { readonly holder: Reconciling; readonly loaded: Loaded; readonly pace: () => Promise<void> };

async function loadAll(loading: Loading): Promise<boolean> {
  const { loaded, holder } = loading;
  const { ports, message } = holder.run;
  // A bucket's first target touches its counter before it is written. Reading the counters first therefore misses no
  // bucket.
  const beganAtMs = ports.clock.monotonicMs();
  const counters = await patiently(loading, () => readChanges(ports.store, message.buckets, false));
  if (!(await loadBuckets(loading, [...counters.keys()]))) return false;
  loaded.counters = counters;
  loaded.loadedAtMs = beganAtMs;
  return true;
}

/**
 * While the run beats, a load that is throttled waits. A run that ended instead would make its successor begin the same
 * load again.
 */
const patiently = <Value>({ holder: { run } }: Loading, call: () => Promise<Value>): Promise<Value> =>
  whileThrottled(run.ports, call, run.inForce);

async function claim(loading: Loading, buckets: readonly Bucket[]): Promise<boolean> {
  const { run } = loading.holder;
  const claimed = await patiently(loading, () => claimBuckets(run, buckets));
  if (!claimed) run.end({ kind: 'fenced' });
  return claimed;
}

async function loadBuckets(loading: Loading, buckets: readonly Bucket[]): Promise<boolean> {
  const { run } = loading.holder;
  const { checkpoints, written } = loading.loaded;
  const unclaimed = buckets.filter((bucket) => !checkpoints.has(bucket));
  if (!(await claim(loading, unclaimed))) return false;
  for (const bucket of buckets) {
    const items = await patiently(loading, () => run.ports.store.query({ pk: bucketPk(bucket) }));
    if (run.ended()) return false;
    if (!checkpoints.has(bucket)) {
      const stored = storedCheckpoint(items);
      checkpoints.set(bucket, stored.entries);
      written.set(bucket, stored.written);
    }
    await adopt(loading, { bucket }, items);
  }
  return !run.ended();
}

/** Held targets of the range that are missing from the items are gone. */
async function adopt(loading: Loading, range: HeldRange, items: readonly Item[]): Promise<void> {
  const { holder, loaded, pace } = loading;
  const groups = groupedByTarget(items);
  for (const held of holder.targets.within(range)) if (!groups.has(held.address.prefix)) dropTarget(holder, held);
  const poison: Poison[] = [];
  for (const [address, group] of groups) {
    await pace();
    if (holder.run.ended()) return;
    const read = assembleTarget(group);
    poison.push(...read.poison);
    const held = holder.targets.get(address);
    if (read.target) adoptTarget(holder, read.target, loaded.checkpoints.get(range.bucket) ?? {});
    else if (held) dropTarget(holder, held);
  }
  quarantine(loading, range, poison);
}

/** `poison` lists all unreadable items of the range and replaces what was quarantined there before. */
function quarantine({ holder, loaded }: Loading, { bucket, slice = '' }: HeldRange, poison: readonly Poison[]): void {
  const isInRange = ({ key }: Poison) => key.pk === bucketPk(bucket) && key.sk.startsWith(slice && bucket + slice);
  const before = new Set(loaded.poisoned.filter(isInRange).map(({ key }) => key.sk));
  for (const { key, detail } of poison)
    if (!before.has(key.sk)) holder.run.ports.log.error('poison item quarantined', { key, detail });
  loaded.poisoned = [...loaded.poisoned.filter((known) => !isInRange(known)), ...poison];
}

async function loadSlice(loading: Loading, { bucket, slice }: Slice): Promise<void> {
  const { store } = loading.holder.run.ports;
  const prefix = bucket + slice;
  const range = { pk: bucketPk(bucket), from: prefix, to: prefix + prefixEnd };
  const items = await patiently(loading, () => store.query(range));
  await adopt(loading, { bucket, slice }, items);
}

async function followOnce(loading: Loading, eventuallyConsistent: boolean): Promise<boolean> {
  const { loaded, holder } = loading;
  const { run } = holder;
  const now = await patiently(loading, () => readChanges(run.ports.store, run.message.buckets, eventuallyConsistent));
  const slices = movedSlices(loaded.counters, now);
  const buckets = [...new Set(slices.map(({ bucket }) => bucket))];
  const fresh = buckets.filter((bucket) => !loaded.checkpoints.has(bucket));
  if (fresh.length > 0 && !(await loadBuckets(loading, fresh))) return false;
  for (const slice of slices) if (!fresh.includes(slice.bucket)) await loadSlice(loading, slice);
  // A run that ended meanwhile has not adopted what it read, and the next run would continue with these counters.
  if (run.ended()) return false;
  loaded.counters = now;
  return true;
}

/**
 * One query also reads the targets between these. If these are at least a quarter of the bucket, it reads at most four
 * times as much, in one call instead of many.
 */
const duePartMin = 0.25;

/**
 * Reads these targets again. The result is keyed by the prefix of their keys; a target that is missing from it is gone.
 */
export async function readAgain(
  { ports }: Pick<Run, 'ports'>,
  due: readonly HeldTarget[],
  all: HeldTargets,
): Promise<ReadonlyMap<string, ReadTarget>> {
  const addresses = due.map(({ address }) => address);
  const [first] = addresses;
  if (first && due.length > 1 && due.length >= duePartMin * all.within({ bucket: first.bucket }).length)
    return readTargets(ports.store, addresses);
  const found = new Map<string, ReadTarget>();
  for (const address of addresses) {
    const read = await readTarget(ports.store, address);
    if (read) found.set(address.prefix, read);
  }
  return found;
}
