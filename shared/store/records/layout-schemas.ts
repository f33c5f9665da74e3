/** The schemas of the records that only the schedule writes; see record-schemas.ts. */
import * as z from 'zod';
import type { Layout, LayoutShard } from '../../core/shards/layout.ts';
import type { Rollout } from '../../core/shards/rollout.ts';
import { bucketCount, type ShardMode } from '../../core/shards/slots.ts';
import type { BucketWeight } from '../../core/shards/weight.ts';
import type { RecordSchema } from './record-schemas.ts';
import { type Attributes, count, instantMs } from './value-schemas.ts';

/** LAYOUT: the buckets of each shard. `token` is the last one issued to a run. */
export type LayoutRecord = Layout &
  Rollout & {
    readonly token: number;
    /** Newest layout version whose messages have all been sent. Holders of removed shards stay until then. */
    readonly announced?: number;
    /** When `announced` was set. Holders of removed shards release them one beat later, all together. */
    readonly announcedAtMs?: number;
  };

/** WEIGHT: the load that a bucket's targets put on their holder. */
export type WeightRecord = BucketWeight & {
  /**
   * The sum of the bucket's change counters, read before its targets. If the sum has changed, the weight may be out of
   * date.
   */
  readonly changes: number;
  /** The version of the formula that computed the weight. */
  readonly formula: number;
  /** The totals of the same counters at that time. Absent if an older release computed the weight. */
  readonly targetsAdded?: number;
  readonly cpuAdded?: number;
  /** The namespaces with the most targets. */
  readonly namespaces?: readonly { readonly name: string; readonly targets: number }[];
};

/** A bucket range whose lack of a holder was published. */
export type NoHolder = {
  readonly from: number;
  readonly to: number;
  /** When its last holder sent its last heartbeat. */
  readonly sinceMs: number;
  /** Set once the range has a holder again and the recovery is about to be published. */
  readonly recoveredAtMs?: number;
};

/** NOHOLDER: the ranges by shard. */
export type NoHolderRecord = { readonly version: number; readonly ranges: { readonly [shard: string]: NoHolder } };

const range = { from: count.max(bucketCount - 1), to: count.max(bucketCount) };
const shardMode: z.ZodType<ShardMode> = z.enum(['idle', 'tick', 'resident']);

const layoutShard: z.ZodType<LayoutShard> = z.object({
  shard: z.string(),
  ...range,
  generation: count,
  mode: shardMode,
  sinceMs: instantMs,
  calmSinceMs: instantMs.exactOptional(),
  lightSinceMs: instantMs.exactOptional(),
} satisfies Attributes<LayoutShard>);

const trial = z.object({
  shard: z.string(),
  sinceMs: instantMs,
} satisfies Attributes<NonNullable<LayoutRecord['trial']>>);

export const layoutSchema: RecordSchema<LayoutRecord> = z.object({
  token: count,
  version: count,
  desiredRelease: z.string(),
  trial: trial.exactOptional(),
  refused: z.string().exactOptional(),
  announced: count.exactOptional(),
  announcedAtMs: instantMs.exactOptional(),
  shards: z.array(layoutShard),
} satisfies Attributes<LayoutRecord>);

export const weightSchema: RecordSchema<WeightRecord> = z.object({
  changes: z.number(),
  formula: count,
  targets: count,
  cpu: z.number(),
  sockets: z.number(),
  // Formulas before the third had none; the bucket is weighed again.
  memory: z.number().default(0),
  mode: shardMode,
  targetsAdded: z.number().exactOptional(),
  cpuAdded: z.number().exactOptional(),
  namespaces: z.array(z.object({ name: z.string(), targets: count })).exactOptional(),
} satisfies Attributes<WeightRecord>);

const noHolder = z.object({
  ...range,
  sinceMs: instantMs,
  recoveredAtMs: instantMs.exactOptional(),
} satisfies Attributes<NoHolder>);

export const noHolderSchema: RecordSchema<NoHolderRecord> = z.object({
  version: count,
  ranges: z.record(z.string(), noHolder),
} satisfies Attributes<NoHolderRecord>);
