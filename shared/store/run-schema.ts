/** The shape of RUN; see record-schemas.ts. */
import * as z from 'zod';
import type { Behind } from '../core/freshness.ts';
import { instantMs, type RecordSchema } from './record-schemas.ts';
import { count } from './spec-schemas.ts';

/** RUN: a shard's beat. */
export type RunRecord = {
  readonly token: number;
  /** Of the shard, as the run's message has it; slots of different generations cannot be compared. */
  readonly generation: number;
  readonly slot: number;
  readonly doneSlot: number;
  readonly beat: number;
  /** When the shard was last known to be held, by the run's own clock. */
  readonly beatAtMs: number;
  /** When the loop had last completed every due probe but those that `behind` names. */
  readonly observedAtMs: number;
  /** When the run was claimed, by its own clock. */
  readonly beganAtMs?: number;
  /** It beats once a minute, and probes no more often. */
  readonly tick?: boolean;
  /** The prober doubts itself: nothing that it saw since counts. */
  readonly degraded: boolean;
  /** What subscribers were last told of that; absent: the same. */
  readonly degradedTold?: boolean;
  /** When probes were last done of which `observedAtMs` does not hold; absent: there are none. */
  readonly behind?: Behind;
  /** The first token of this generation: buckets whose EPOCH has an older one are not its own yet. */
  readonly sinceToken?: number;
  /** The token of a run that its successor has asked to leave. */
  readonly leave?: number;
  /** Of the generation before it. */
  readonly previous?: PastRun;
};

/** What a RUN said before another layout's shard took its name: its buckets may be claimed later. */
export type PastRun = Required<Pick<RunRecord, 'sinceToken' | 'tick' | 'degradedTold'>> &
  Pick<RunRecord, 'observedAtMs' | 'degraded'>;

const pastRun: RecordSchema<PastRun> = z.object({
  sinceToken: count,
  observedAtMs: instantMs,
  tick: z.boolean(),
  degraded: z.boolean(),
  degradedTold: z.boolean(),
});

export const runSchema: RecordSchema<RunRecord> = z.object({
  token: count,
  generation: count,
  slot: z.int(),
  doneSlot: z.int(),
  beat: z.int(),
  beatAtMs: instantMs,
  observedAtMs: instantMs,
  beganAtMs: instantMs.exactOptional(),
  tick: z.boolean().exactOptional(),
  degraded: z.boolean(),
  degradedTold: z.boolean().exactOptional(),
  behind: z.record(z.string(), instantMs).exactOptional(),
  sinceToken: count.exactOptional(),
  leave: count.exactOptional(),
  previous: pastRun.exactOptional(),
});
