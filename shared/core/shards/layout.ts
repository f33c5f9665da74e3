/**
 * Which shard has which buckets. A shard is a range of buckets. It is split at once when its registered weight is too
 * much for one holder, and merged with its neighbour only after both have long been light. Health is no input: a layout
 * that moved with failing targets would move most at the worst time.
 *
 * A shard is named by its first bucket, so its name, its slots and its message group stay while its range grows or
 * shrinks.
 */

import { descriptorsMax } from '../self/sockets.ts';
import { bucketCount, type ShardMode } from './slots.ts';
import { type BucketWeight, isHigherMode, sumOf } from './weight.ts';

/** The first bucket and one past the last. */
export type BucketRange = { readonly from: number; readonly to: number };

export type LayoutShard = BucketRange & {
  readonly shard: string;
  /** LAYOUT's version when range or mode last changed. Earlier messages and claims no longer count. */
  readonly generation: number;
  readonly mode: ShardMode;
  /** When its generation began, ms since the epoch. */
  readonly sinceMs: number;
  /** Since when a lower mode has been sufficient. */
  readonly calmSinceMs?: number;
  /** Since when a merge with the next shard has been possible. */
  readonly lightSinceMs?: number;
};

export type Layout = {
  /** Grows by one with each change. */
  readonly version: number;
  /** In order, without gap or overlap. */
  readonly shards: readonly LayoutShard[];
};

/** Capacity of one holder: a share of a vCPU, descriptors for probes in flight, and bytes for targets. */
export type Capacity = { readonly cpu: number; readonly sockets: number; readonly memory: number };

export type LayoutContext = {
  readonly nowMs: number;
  readonly capacity: Capacity;
  /**
   * `auto`: what the periods require, or resident where that is cheaper; `resident`: always held, even without targets.
   */
  readonly mode: 'auto' | 'tick' | 'resident';
};

/** Of a process that holds all targets in one shard, however many they are. */
export const unlimitedCapacity: Capacity = {
  cpu: Number.POSITIVE_INFINITY,
  sockets: Number.POSITIVE_INFINITY,
  memory: Number.POSITIVE_INFINITY,
};

/** Memory of a Lambda function that corresponds to one vCPU. */
export const vcpuMb = 1_769;

/**
 * What a prober function needs besides its targets: 74 MB of its own (`npm run bench:function-memory`), and the pages
 * of Node that it runs on.
 */
const ownMb = 112;

/** The capacity of a Lambda function on arm64. */
export const capacityOf = (megabytes: number): Capacity => ({
  cpu: megabytes / vcpuMb,
  sockets: descriptorsMax,
  memory: Math.max(1, megabytes - ownMb) * 1_024 * 1_024,
});

/** Default memory of a prober. */
export const functionMb = 256;
export const functionCapacity: Capacity = capacityOf(functionMb);

/**
 * With at most so many targets tick mode costs less than a function of 256 MB that runs all the time
 * (shared/cost/estimate.ts). `alone`: the only shard, which one process holds minute after minute. HTTPS probes of so
 * many take a run less than half its minute. `among`: of several shards, each of which another process may hold next,
 * and then claims and loads it again.
 */
export const tickTargetsMax = { alone: 1_280, among: 128 } as const;

/** Shares of the capacity. A merged shard stays well below the load that is split. */
export const splitAbove = 0.7;
export const mergeBelow = 0.3;
export const mergedBelow = 0.5;

/** How long a shard has to be light, or a lower mode sufficient, before the layout changes. */
export const patienceMs = 10 * 60_000;

/** The layout that these buckets (all of them, in order) require now; the same object if nothing changes. */
export function planLayout(layout: Layout, buckets: readonly BucketWeight[], context: LayoutContext): Layout {
  const loadOf = loadMeter(buckets, context.capacity);
  const ranges = nextRanges(layout.shards, loadOf, context.nowMs);
  const shards = ranges.map((range) => nextShard(layout, range, modeOf(range, buckets, context), context.nowMs));
  const marked = withLightMarks(layout.shards, shards, loadOf, context.nowMs);
  const isSame =
    marked.length === layout.shards.length && marked.every((shard, index) => shard === layout.shards[index]);
  return isSame ? layout : { version: layout.version + 1, shards: marked };
}

/** Whether the shards cover every bucket exactly once. */
export function isWhole(shards: readonly BucketRange[]): boolean {
  const ends = [0, ...shards.map(({ to }) => to)];
  return ends.at(-1) === bucketCount && shards.every(({ from, to }, index) => from === ends[index] && from < to);
}

/** The share of one holder's capacity that this weight takes, of what it takes most. */
export const shareOf = ({ cpu, sockets, memory }: BucketWeight, capacity: Capacity): number =>
  Math.max(cpu / capacity.cpu, sockets / capacity.sockets, memory / capacity.memory);

/** A share of one holder's capacity. */
type LoadOf = (range: BucketRange) => number;

function loadMeter(buckets: readonly BucketWeight[], capacity: Capacity): LoadOf {
  return ({ from, to }) => {
    return shareOf(sumOf(buckets.slice(from, to)), capacity);
  };
}

/** Without shards, the first layout. One merge at a time, and none while a shard is split. */
function nextRanges(shards: readonly LayoutShard[], loadOf: LoadOf, nowMs: number): readonly BucketRange[] {
  const now: readonly BucketRange[] = shards.length > 0 ? shards : [{ from: 0, to: bucketCount }];
  const split = now.flatMap((range) => pieces(range, loadOf));
  return split.length > now.length ? split : (merged(shards, loadOf, nowMs) ?? now);
}

/** Halves of about the same load, until each is light enough or a split would not help. */
function pieces(range: BucketRange, loadOf: LoadOf): readonly BucketRange[] {
  const load = loadOf(range);
  if (load <= splitAbove || heaviestBucket(range, loadOf) >= load) return [range];
  const at = middle(range, loadOf);
  return [...pieces({ from: range.from, to: at }, loadOf), ...pieces({ from: at, to: range.to }, loadOf)];
}

const heaviestBucket = ({ from, to }: BucketRange, loadOf: LoadOf): number =>
  Math.max(...Array.from({ length: to - from }, (_, index) => loadOf({ from: from + index, to: from + index + 1 })));

/**
 * The split with the lightest heavier side: from left to right the load of the left side only grows and that of the
 * right side only falls.
 */
function middle({ from, to }: BucketRange, loadOf: LoadOf): number {
  const heavier = (at: number) => Math.max(loadOf({ from, to: at }), loadOf({ from: at, to }));
  let [low, high] = [from + 1, to - 1];
  while (low < high) {
    const at = (low + high) >> 1;
    if (loadOf({ from, to: at }) < loadOf({ from: at, to })) low = at + 1;
    else high = at;
  }
  return heavier(low - 1) < heavier(low) ? low - 1 : low;
}

/** The ranges after a merge of the lightest pair among those that have long been light together. */
function merged(shards: readonly LayoutShard[], loadOf: LoadOf, nowMs: number): readonly BucketRange[] | undefined {
  const ripe = pairs(shards)
    .filter(({ left, right }) => isLight(left, right, loadOf) && hasPassed(left.lightSinceMs, nowMs))
    .map(({ left, right }) => ({ left, both: { from: left.from, to: right.to } }))
    .sort((one, other) => loadOf(one.both) - loadOf(other.both));
  const [lightest] = ripe;
  if (!lightest) return undefined;
  const { left, both } = lightest;
  const at = shards.indexOf(left);
  return [...shards.slice(0, at), both, ...shards.slice(at + 2)];
}

const pairs = (shards: readonly LayoutShard[]) =>
  shards.flatMap((left, index) => {
    const right = shards[index + 1];
    return right ? [{ left, right }] : [];
  });

const isLight = (left: BucketRange, right: BucketRange, loadOf: LoadOf): boolean =>
  Math.min(loadOf(left), loadOf(right)) < mergeBelow && loadOf({ from: left.from, to: right.to }) < mergedBelow;

const hasPassed = (sinceMs: number | undefined, nowMs: number): boolean =>
  sinceMs !== undefined && nowMs - sinceMs >= patienceMs;

function modeOf({ from, to }: BucketRange, buckets: readonly BucketWeight[], { mode }: LayoutContext): ShardMode {
  const { mode: wanted, targets } = sumOf(buckets.slice(from, to));
  const isAlone = to - from === bucketCount;
  switch (mode) {
    case 'auto':
      return wanted === 'tick' && targets > tickTargetsMax[isAlone ? 'alone' : 'among'] ? 'resident' : wanted;
    case 'tick':
      return isHigherMode(wanted, 'tick') ? 'tick' : wanted;
    case 'resident':
      return 'resident';
  }
}

/**
 * A higher mode applies at once, a lower one only after it has been sufficient for long. Otherwise each target that is
 * added and removed would cost a hand-over.
 */
function nextShard(layout: Layout, range: BucketRange, wanted: ShardMode, nowMs: number): LayoutShard {
  const old = layout.shards.find(({ from, to }) => from === range.from && to === range.to);
  if (!old || isHigherMode(wanted, old.mode)) return newShard(layout, range, wanted, nowMs);
  const { calmSinceMs, ...rest } = old;
  if (wanted === old.mode) return calmSinceMs === undefined ? old : rest;
  if (calmSinceMs === undefined) return { ...old, calmSinceMs: nowMs };
  return hasPassed(calmSinceMs, nowMs) ? newShard(layout, range, wanted, nowMs) : old;
}

const newShard = ({ version }: Layout, { from, to }: BucketRange, mode: ShardMode, nowMs: number): LayoutShard => ({
  shard: shardName(from),
  from,
  to,
  generation: version + 1,
  mode,
  sinceMs: nowMs,
});

const shardName = (from: number): string => from.toString(16).padStart(2, '0');

/**
 * Marks each shard that could be merged with the next one with the time since when. A pair with other ranges starts
 * from now.
 */
function withLightMarks(
  before: readonly LayoutShard[],
  shards: readonly LayoutShard[],
  loadOf: LoadOf,
  nowMs: number,
): readonly LayoutShard[] {
  const known = new Map(pairs(before).map(({ left, right }) => [pairName(left, right), left.lightSinceMs]));
  return shards.map((left, index) => {
    const right = shards[index + 1];
    const { lightSinceMs, ...rest } = left;
    if (!right || !isLight(left, right, loadOf)) return lightSinceMs === undefined ? left : rest;
    const sinceMs = known.get(pairName(left, right)) ?? nowMs;
    return sinceMs === lightSinceMs ? left : { ...left, lightSinceMs: sinceMs };
  });
}

const pairName = (left: BucketRange, right: BucketRange): string => `${left.from}-${right.from}-${right.to}`;
