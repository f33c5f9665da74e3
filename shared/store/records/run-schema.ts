/** The schema of RUN; see record-schemas.ts. */
import * as z from 'zod';
import type { Seen } from '../../core/self/second-look.ts';
import type { Behind } from '../../core/status/freshness.ts';
import type { RecordSchema } from './record-schemas.ts';
import { type Attributes, count, instantMs } from './value-schemas.ts';

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

const pastRun: RecordSchema<PastRun> = z.object({
  sinceToken: count,
  observedAtMs: instantMs,
  tick: z.boolean(),
  degraded: z.boolean(),
  degradedTold: z.boolean(),
  overloaded: z.boolean().exactOptional(),
  overloadedTold: z.boolean().exactOptional(),
} satisfies Attributes<PastRun>);

const look = z.object({
  token: count,
  number: count,
  failed: count,
  succeeded: count,
} satisfies Attributes<NonNullable<RunRecord['look']>>);

export const runSchema: RecordSchema<RunRecord> = z.object({
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
  look: look.exactOptional(),
  previous: pastRun.exactOptional(),
} satisfies Attributes<RunRecord>);
