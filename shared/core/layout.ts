/**
 * Which shard has which buckets. A shard is a range of buckets; it is split at once when its registered weight is too much for one
 * holder, and put together with its neighbour only after both have long been light. Health never enters: a layout that moved with
 * failing targets would move most when it must not.
 *
 * A shard is named by its first bucket, so its name, its slots and its message group stay while its range grows or shrinks.
 */
import { descriptorsMax } from './room.ts';
import { bucketCount } from './slots.ts';
import { type BucketWeight, isHigherMode, type ShardMode, sumOf } from './weight.ts';

/** The first bucket and one past the last. */
export type BucketRange = { readonly from: number; readonly to: number };

export type LayoutShard = BucketRange & {
  readonly shard: string;
  /** LAYOUT's version when range or mode last changed: what was sent or claimed before counts no more. */
  readonly generation: number;
  readonly mode: ShardMode;
  /** When its generation began, ms since the epoch. */
  readonly sinceMs: number;
  /** Since when a lesser mode would do. */
  readonly calmSinceMs?: number;
  /** Since when it could be one with the shard after it. */
  readonly lightSinceMs?: number;
};

export type Layout = {
  /** Grows by one with each change. */
  readonly version: number;
  /** In order, without gap or overlap. */
  readonly shards: readonly LayoutShard[];
};

/** What one holder has: a share of a vCPU, and descriptors for probes in flight. */
export type Capacity = { readonly cpu: number; readonly sockets: number };

export type LayoutContext = {
  readonly nowMs: number;
  readonly capacity: Capacity;
  /** `auto`: as the periods ask for it, or resident where that costs less; `resident`: always held, also without targets. */
  readonly mode: 'auto' | 'tick' | 'resident';
};

/** Of a Lambda function's memory that is one vCPU. */
const vcpuMb = 1_769;

/** Of a Lambda function on arm64. */
export const capacityOf = (megabytes: number): Capacity => ({ cpu: megabytes / vcpuMb, sockets: descriptorsMax });

/** What a prober has by default. */
export const functionMb = 256;
export const functionCapacity: Capacity = capacityOf(functionMb);

/**
 * A tick's claims, two write units a minute for each bucket with targets, cost more than a small function that is always there when a
 * shard has more targets than this (cdk/cost.ts, at 256 MB).
 */
export const tickTargetsMax = 128;

/** Shares of the capacity. What was just put together is well below what is split. */
export const splitAbove = 0.7;
export const mergeBelow = 0.3;
export const mergedBelow = 0.5;

/** How long a shard has been light, or a lesser mode would do, before anything is made of it. */
export const patienceMs = 10 * 60_000;

/** The layout that these buckets (all of them, in order) ask for now; the same object if nothing changes. */
export function planLayout(layout: Layout, buckets: readonly BucketWeight[], context: LayoutContext): Layout {
  const loadOf = loadMeter(buckets, context.capacity);
  const ranges = nextRanges(layout.shards, loadOf, context.nowMs);
  const shards = ranges.map((range) => nextShard(layout, range, modeOf(range, buckets, context), context.nowMs));
  const marked = withLightMarks(layout.shards, shards, { loadOf, nowMs: context.nowMs });
  const isSame =
    marked.length === layout.shards.length && marked.every((shard, index) => shard === layout.shards[index]);
  return isSame ? layout : { version: layout.version + 1, shards: marked };
}

/** Whether the shards have every bucket, each once. */
export function isWhole(shards: readonly BucketRange[]): boolean {
  const ends = [0, ...shards.map(({ to }) => to)];
  return ends.at(-1) === bucketCount && shards.every(({ from, to }, index) => from === ends[index] && from < to);
}

/** Of the capacity of one holder. */
type LoadOf = (range: BucketRange) => number;

function loadMeter(buckets: readonly BucketWeight[], capacity: Capacity): LoadOf {
  return ({ from, to }) => {
    const { cpu, sockets } = sumOf(buckets.slice(from, to));
    return Math.max(cpu / capacity.cpu, sockets / capacity.sockets);
  };
}

/** No shards: the first layout. One merge at a time, and none while anything is split. */
function nextRanges(shards: readonly LayoutShard[], loadOf: LoadOf, nowMs: number): readonly BucketRange[] {
  const now: readonly BucketRange[] = shards.length > 0 ? shards : [{ from: 0, to: bucketCount }];
  const split = now.flatMap((range) => pieces(range, loadOf));
  return split.length > now.length ? split : (merged(shards, loadOf, nowMs) ?? now);
}

/** Halves of about the same load, until each is light enough or no split would help. */
function pieces(range: BucketRange, loadOf: LoadOf): readonly BucketRange[] {
  const load = loadOf(range);
  if (load <= splitAbove || heaviestBucket(range, loadOf) >= load) return [range];
  const at = middle(range, loadOf);
  return [...pieces({ from: range.from, to: at }, loadOf), ...pieces({ from: at, to: range.to }, loadOf)];
}

const heaviestBucket = ({ from, to }: BucketRange, loadOf: LoadOf): number =>
  Math.max(...Array.from({ length: to - from }, (_, index) => loadOf({ from: from + index, to: from + index + 1 })));

/** Where the heavier side is lightest: the left side's load only grows on the way, the right side's only falls. */
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

/** The ranges with the lightest of the pairs that have long been light as one. */
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
  switch (mode) {
    case 'auto':
      return wanted === 'tick' && targets > tickTargetsMax ? 'resident' : wanted;
    case 'tick':
      return isHigherMode(wanted, 'tick') ? 'tick' : wanted;
    case 'resident':
      return 'resident';
  }
}

/** A higher mode at once; a lower one when it has been enough for long, or each target that goes and comes would cost a hand-over. */
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

type Marking = { readonly loadOf: LoadOf; readonly nowMs: number };

/** Each shard that could be one with the next: since when. A pair of other ranges than before begins anew. */
function withLightMarks(
  before: readonly LayoutShard[],
  shards: readonly LayoutShard[],
  { loadOf, nowMs }: Marking,
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
