/** Loads the targets of a shard: all of its buckets at the start, afterwards the slices whose counter moved. */

import { sleep } from '../lib/clock.ts';
import { pacer } from '../lib/slices.ts';
import type { Poison } from '../store/records/items.ts';
import { type Bucket, bucketPk, prefixEnd } from '../store/records/keys.ts';
import { type Item, type Store, StoreUnavailable } from '../store/store.ts';
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
import type { Holder } from './holder.ts';
import { adoptTarget, type Checkpoints, dropTarget } from './probing/reconcile.ts';
import type { HeldTarget } from './probing/worker.ts';

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

const nothingLoaded = (): Loaded => ({
  checkpoints: new Map(),
  poisoned: [],
  written: new Map(),
  counters: new Map(),
  loadedAtMs: Number.NEGATIVE_INFINITY,
});

export class ShardLoader {
  readonly #holder: Holder;
  readonly #loaded: Loaded;
  readonly #pace: () => Promise<void>;

  constructor(holder: Holder, loaded: Loaded = nothingLoaded()) {
    this.#holder = holder;
    this.#loaded = loaded;
    this.#pace = pacer(holder.run.ports.clock, adoptSliceMs);
  }

  /** What the next run of this process continues with. */
  loaded(): Loaded {
    return this.#loaded;
  }

  quarantined(): readonly Poison[] {
    return this.#loaded.poisoned;
  }

  /** Claims and loads every bucket that has targets. Returns false if the run is fenced. */
  async loadAll(): Promise<boolean> {
    const { ports, message } = this.#holder.run;
    // A bucket's first target touches its counter before it is written. Reading the counters first therefore misses no
    // bucket.
    const beganAtMs = ports.clock.monotonicMs();
    const counters = await this.#patiently(() => readChanges(ports.store, message.buckets, false));
    if (!(await this.#loadBuckets([...counters.keys()]))) return false;
    this.#loaded.counters = counters;
    this.#loaded.loadedAtMs = beganAtMs;
    return true;
  }

  /**
   * For a warm run: reads what has changed since its memory, strongly consistent. Buckets that it has loaded before are
   * claimed when it writes to them. Returns false if the run is fenced.
   */
  catchUp(): Promise<boolean> {
    return this.#isOld() ? this.loadAll() : this.#followOnce(false);
  }

  /** Follows the change counters until the run ends. */
  async follow(): Promise<void> {
    const { run } = this.#holder;
    const { clock, log } = run.ports;
    while (!run.ended()) {
      await sleep(clock, changesIntervalMs, run.signal);
      if (run.ended()) return;
      try {
        if (this.#isOld()) await this.loadAll();
        else await this.#followOnce(true);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        log.warn('changes not read', { shard: run.message.shard, cause: error });
      }
    }
  }

  #isOld(): boolean {
    return this.#holder.run.ports.clock.monotonicMs() - this.#loaded.loadedAtMs >= fullReloadIntervalMs;
  }

  /**
   * While the run beats, a load that is throttled waits. A run that ended instead would make its successor begin the
   * same load again.
   */
  #patiently<Value>(call: () => Promise<Value>): Promise<Value> {
    const { run } = this.#holder;
    return whileThrottled(run.ports, call, run.inForce);
  }

  async #claim(buckets: readonly Bucket[]): Promise<boolean> {
    const { run } = this.#holder;
    const claimed = await this.#patiently(() => claimBuckets(run, buckets));
    if (!claimed) run.end({ kind: 'fenced' });
    return claimed;
  }

  async #loadBuckets(buckets: readonly Bucket[]): Promise<boolean> {
    const { run } = this.#holder;
    const { checkpoints, written } = this.#loaded;
    const unclaimed = buckets.filter((bucket) => !checkpoints.has(bucket));
    if (!(await this.#claim(unclaimed))) return false;
    for (const bucket of buckets) {
      const items = await this.#patiently(() => run.ports.store.query({ pk: bucketPk(bucket) }));
      if (run.ended()) return false;
      if (!checkpoints.has(bucket)) {
        const stored = storedCheckpoint(items);
        checkpoints.set(bucket, stored.entries);
        written.set(bucket, stored.written);
      }
      await this.#adopt({ bucket }, items);
    }
    return !run.ended();
  }

  async #loadSlice({ bucket, slice }: Slice): Promise<void> {
    const { store } = this.#holder.run.ports;
    const prefix = bucket + slice;
    const range = { pk: bucketPk(bucket), from: prefix, to: prefix + prefixEnd };
    const items = await this.#patiently(() => store.query(range));
    await this.#adopt({ bucket, slice }, items);
  }

  /** Reads the counters, and again what they say has changed. Returns false if the run is fenced or has ended. */
  async #followOnce(eventuallyConsistent: boolean): Promise<boolean> {
    const { run } = this.#holder;
    const loaded = this.#loaded;
    const now = await this.#patiently(() => readChanges(run.ports.store, run.message.buckets, eventuallyConsistent));
    const slices = movedSlices(loaded.counters, now);
    const buckets = [...new Set(slices.map(({ bucket }) => bucket))];
    const fresh = buckets.filter((bucket) => !loaded.checkpoints.has(bucket));
    if (fresh.length > 0 && !(await this.#loadBuckets(fresh))) return false;
    for (const slice of slices) if (!fresh.includes(slice.bucket)) await this.#loadSlice(slice);
    // A run that ended meanwhile has not adopted what it read, and the next run would continue with these counters.
    if (run.ended()) return false;
    loaded.counters = now;
    return true;
  }

  /** Held targets of the range that are missing from the items are gone. */
  async #adopt(range: HeldRange, items: readonly Item[]): Promise<void> {
    const holder = this.#holder;
    const groups = groupedByTarget(items);
    for (const held of holder.targets.within(range)) if (!groups.has(held.address.prefix)) dropTarget(holder, held);
    const poison: Poison[] = [];
    for (const [prefix, group] of groups) {
      await this.#pace();
      if (holder.run.ended()) return;
      const read = assembleTarget(group);
      poison.push(...read.poison);
      const held = holder.targets.get(prefix);
      if (read.target) adoptTarget(holder, read.target, this.#loaded.checkpoints.get(range.bucket) ?? {});
      else if (held) dropTarget(holder, held);
    }
    this.#quarantine(range, poison);
  }

  /** `poison` lists all unreadable items of the range and replaces what was quarantined there before. */
  #quarantine({ bucket, slice = '' }: HeldRange, poison: readonly Poison[]): void {
    const { log } = this.#holder.run.ports;
    const isInRange = ({ key }: Poison) => key.pk === bucketPk(bucket) && key.sk.startsWith(slice && bucket + slice);
    const before = new Set(this.#loaded.poisoned.filter(isInRange).map(({ key }) => key.sk));
    for (const { key, detail } of poison)
      if (!before.has(key.sk)) log.error('poison item quarantined', { key, detail });
    this.#loaded.poisoned = [...this.#loaded.poisoned.filter((known) => !isInRange(known)), ...poison];
  }
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
  store: Store,
  due: readonly HeldTarget[],
  all: HeldTargets,
): Promise<ReadonlyMap<string, ReadTarget>> {
  const addresses = due.map(({ address }) => address);
  const [first] = addresses;
  if (first && due.length > 1 && due.length >= duePartMin * all.within({ bucket: first.bucket }).length)
    return readTargets(store, addresses);
  const found = new Map<string, ReadTarget>();
  for (const address of addresses) {
    const read = await readTarget(store, address);
    if (read) found.set(address.prefix, read);
  }
  return found;
}
