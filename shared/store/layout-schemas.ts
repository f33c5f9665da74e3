/** The shapes of the records that only the schedule writes; see record-schemas.ts. */
import * as z from 'zod';
import type { Layout, LayoutShard } from '../core/layout.ts';
import { bucketCount } from '../core/slots.ts';
import type { BucketWeight, ShardMode } from '../core/weight.ts';
import { instantMs, type RecordSchema } from './record-schemas.ts';
import { count } from './spec-schemas.ts';

/** LAYOUT: which shard has which buckets; `token` is the last one a run took. */
export type LayoutRecord = Layout & {
  readonly token: number;
  readonly desiredRelease: string;
  /** The newest version all of whose messages the queue has taken; until then holders of what is no more stay. */
  readonly announced?: number;
  /** When that was said: holders of what is no more leave a beat later, all together. */
  readonly announcedAtMs?: number;
};

/** WEIGHT: what the targets of a bucket ask of their holder. */
export type WeightRecord = BucketWeight & {
  /** The sum of the bucket's change counters, read before its targets: a sum that differs says that the weight may, too. */
  readonly changes: number;
  /** Which way of weighing made it. */
  readonly formula: number;
  /** What had been added by then, by the same counters; absent: made by a release that did not count it. */
  readonly targetsAdded?: number;
  readonly cpuAdded?: number;
  /** The namespaces with most targets. */
  readonly namespaces?: readonly { readonly name: string; readonly targets: number }[];
};

/** A range that subscribers were told to have no holder. */
export type NoHolder = {
  readonly from: number;
  readonly to: number;
  /** When its last holder was heard of. */
  readonly sinceMs: number;
  /** Set once it is held again: somebody is about to tell so. */
  readonly recoveredAtMs?: number;
};

/** NOHOLDER: by shard. */
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
});

export const layoutSchema: RecordSchema<LayoutRecord> = z.object({
  token: count,
  version: count,
  desiredRelease: z.string(),
  announced: count.exactOptional(),
  announcedAtMs: instantMs.exactOptional(),
  shards: z.array(layoutShard),
});

export const weightSchema: RecordSchema<WeightRecord> = z.object({
  changes: z.number(),
  formula: count,
  targets: count,
  cpu: z.number(),
  sockets: z.number(),
  mode: shardMode,
  targetsAdded: z.number().exactOptional(),
  cpuAdded: z.number().exactOptional(),
  namespaces: z.array(z.object({ name: z.string(), targets: count })).exactOptional(),
});

export const noHolderSchema: RecordSchema<NoHolderRecord> = z.object({
  version: count,
  ranges: z.record(z.string(), z.object({ ...range, sinceMs: instantMs, recoveredAtMs: instantMs.exactOptional() })),
});
