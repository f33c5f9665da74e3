/**
 * The records of shards and buckets, with their schemas: EPOCH, RUN and CHECKPOINT, written by the shard's holder, and
 * LAYOUT, WEIGHT and NOHOLDER, written by the schedule. target-records.ts has the rules for an attribute that is added.
 */
import * as z from 'zod';
import type { Seen } from '../../core/self/second-look.ts';
import type { Layout, LayoutShard } from '../../core/shards/layout.ts';
import type { Rollout } from '../../core/shards/rollout.ts';
import { bucketCount, type ShardMode } from '../../core/shards/slots.ts';
import type { BucketWeight } from '../../core/shards/weight.ts';
import type { ProbeRecord } from '../../core/spec/records.ts';
import type { Behind } from '../../core/status/freshness.ts';
import type { NamesSchema, ObjectSchema } from '../../schema/schema-of.ts';
import { result } from '../../schema/terms.ts';

const count = z.int().min(0);
const instantMs = z.number();

/** EPOCH: the token with which a run may commit in a bucket. */
export type EpochRecord = { readonly token: number; readonly shard: string; readonly claimedAtMs: number };

export const epochSchema: ObjectSchema<EpochRecord> = z.object({
  token: count,
  shard: z.string(),
  claimedAtMs: instantMs,
});

/** One probe's run length. It is valid only for the same uid and streak. */
export type CheckpointEntry = {
  readonly uid: string;
  readonly streak: number;
  readonly resultRun: number;
  readonly lastResult?: ProbeRecord['lastResult'];
  /** The probe was pending when the run ended. The next holder executes it at once. */
  readonly owed?: boolean;
  /** The number of manual triggers in TARGET that have been passed on. Absent if there were none. */
  readonly requestsSeen?: number;
};

/** CHECKPOINT: the run lengths of a bucket's probes, by the sort keys of their PROBE items. */
export type CheckpointRecord = { readonly entries: { readonly [probeSk: string]: CheckpointEntry } };

const checkpointEntry: ObjectSchema<CheckpointEntry> = z.object({
  uid: z.string(),
  streak: count,
  resultRun: count,
  lastResult: result.exactOptional(),
  owed: z.boolean().exactOptional(),
  requestsSeen: count.exactOptional(),
});

export const checkpointSchema: ObjectSchema<CheckpointRecord> = z.object({
  entries: z.record(z.string(), checkpointEntry),
});

/** RUN: a shard's heartbeat. */
export type RunRecord = {
  readonly token: number;
  /** The shard's generation from the run's message. Slots of different generations cannot be compared. */
  readonly generation: number;
  readonly slot: number;
  readonly doneSlot: number;
  readonly beat: number;
  /** When the shard was last known to be held, by the run's clock. */
  readonly beatAtMs: number;
  /** The last time the loop had completed every due probe, except for those in `behind`. */
  readonly observedAtMs: number;
  /** When the run was claimed, by the run's clock. */
  readonly beganAtMs?: number;
  /** The release of the run. Absent: it has none, or is older than this attribute. */
  readonly release?: string;
  /** The shard runs in tick mode: it sends a heartbeat once a minute and probes no more often. */
  readonly tick?: boolean;
  /** The self-check has failed, so results since then do not count. */
  readonly degraded: boolean;
  /** The last published value of `degraded`. Absent if it is the same. */
  readonly degradedTold?: boolean;
  /** More probes are due than the run can begin in time. Absent: as `false`. */
  readonly overloaded?: boolean;
  /** The last published value of `overloaded`. Absent if it is the same. */
  readonly overloadedTold?: boolean;
  /** When late probes, to which `observedAtMs` does not apply, were last done. Absent if there are none. */
  readonly behind?: Behind;
  /** The first token of this generation. A bucket whose EPOCH has an older token is not claimed by it yet. */
  readonly sinceToken?: number;
  /** The token of a run that its successor has asked to release the shard. */
  readonly leave?: number;
  /** What another process saw of the targets that failed here; `number` is the look's, `token` that of its run. */
  readonly look?: Seen & { readonly token: number; readonly number: number };
  /** What remains of the previous generation's RUN. */
  readonly previous?: PastRun;
};

/** RUN of an earlier layout's shard with the same name, whose buckets may not be claimed yet. */
export type PastRun = Required<Pick<RunRecord, 'sinceToken' | 'tick' | 'degradedTold'>> &
  Pick<RunRecord, 'observedAtMs' | 'degraded' | 'overloaded' | 'overloadedTold'>;

const pastRun: ObjectSchema<PastRun> = z.object({
  sinceToken: count,
  observedAtMs: instantMs,
  tick: z.boolean(),
  degraded: z.boolean(),
  degradedTold: z.boolean(),
  overloaded: z.boolean().exactOptional(),
  overloadedTold: z.boolean().exactOptional(),
});

export const runSchema: ObjectSchema<RunRecord> = z.object({
  token: count,
  generation: count,
  slot: z.int(),
  doneSlot: z.int(),
  beat: z.int(),
  beatAtMs: instantMs,
  observedAtMs: instantMs,
  beganAtMs: instantMs.exactOptional(),
  release: z.string().exactOptional(),
  tick: z.boolean().exactOptional(),
  degraded: z.boolean(),
  degradedTold: z.boolean().exactOptional(),
  overloaded: z.boolean().exactOptional(),
  overloadedTold: z.boolean().exactOptional(),
  behind: z.record(z.string(), instantMs).exactOptional(),
  sinceToken: count.exactOptional(),
  leave: count.exactOptional(),
  look: z.object({ token: count, number: count, failed: count, succeeded: count }).exactOptional(),
  previous: pastRun.exactOptional(),
});

export type ObservedRun = Pick<
  RunRecord,
  'observedAtMs' | 'tick' | 'degraded' | 'degradedTold' | 'overloaded' | 'overloadedTold' | 'behind'
>;

/** Reads RUN of the shard that the bucket's EPOCH names. Returns undefined if RUN no longer covers this bucket. */
export function observedFor({ token }: Pick<EpochRecord, 'token'>, run: RunRecord): ObservedRun | undefined {
  if (token >= (run.sinceToken ?? 0)) return run;
  const { previous } = run;
  return previous && token >= previous.sinceToken ? previous : undefined;
}

/**
 * Returns what to remember of the previous generation's RUN before it is overwritten. Its list of late probes is
 * dropped; instead, every probe counts as last done when the most overdue one was.
 */
export function pastOf(run: RunRecord | undefined): PastRun {
  if (!run) return { sinceToken: 0, observedAtMs: 0, tick: false, degraded: false, degradedTold: false };
  const { sinceToken = 0, observedAtMs, tick = false, degraded, degradedTold = degraded, behind = {} } = run;
  const { overloaded = false, overloadedTold = overloaded } = run;
  const leastMs = Math.min(observedAtMs, ...Object.values(behind));
  return { sinceToken, observedAtMs: leastMs, tick, degraded, degradedTold, overloaded, overloadedTold };
}

/** LAYOUT: the buckets of each shard. `token` is the last one issued to a run. */
export type LayoutRecord = Layout &
  Rollout & {
    readonly token: number;
    /** Newest layout version whose messages have all been sent. Holders of removed shards stay until then. */
    readonly announced?: number;
    /** When `announced` was set. Holders of removed shards release them one beat later, all together. */
    readonly announcedAtMs?: number;
  };

const range = { from: count.max(bucketCount - 1), to: count.max(bucketCount) };
const shardMode: NamesSchema<ShardMode> = z.enum(['idle', 'tick', 'resident']);

const layoutShard: ObjectSchema<LayoutShard> = z.object({
  shard: z.string(),
  ...range,
  generation: count,
  mode: shardMode,
  sinceMs: instantMs,
  calmSinceMs: instantMs.exactOptional(),
  lightSinceMs: instantMs.exactOptional(),
});

export const layoutSchema: ObjectSchema<LayoutRecord> = z.object({
  token: count,
  version: count,
  desiredRelease: z.string(),
  trial: z.object({ shard: z.string(), sinceMs: instantMs }).exactOptional(),
  refused: z.string().exactOptional(),
  announced: count.exactOptional(),
  announcedAtMs: instantMs.exactOptional(),
  shards: z.array(layoutShard),
});

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

export const weightSchema: ObjectSchema<WeightRecord> = z.object({
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
});

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

const noHolder: ObjectSchema<NoHolder> = z.object({
  ...range,
  sinceMs: instantMs,
  recoveredAtMs: instantMs.exactOptional(),
});

export const noHolderSchema: ObjectSchema<NoHolderRecord> = z.object({
  version: count,
  ranges: z.record(z.string(), noHolder),
});
