/** What RUN says of one bucket. Shards of two layouts may have the same name and other buckets. */
import type { EpochRecord, PastRun, RunRecord } from './items.ts';

export type ObservedRun = Pick<
  RunRecord,
  'observedAtMs' | 'tick' | 'degraded' | 'degradedTold' | 'late' | 'lateOverflow'
>;

/** RUN of the shard that the bucket's EPOCH names; undefined: it says nothing of this bucket any more. */
export function observedFor({ token }: EpochRecord, run: RunRecord): ObservedRun | undefined {
  if (token >= (run.sinceToken ?? 0)) return run;
  const { previous } = run;
  return previous && token >= previous.sinceToken ? { ...previous, late: [] } : undefined;
}

/** Of a RUN that another generation is about to overwrite; what it had not done is not named any more, it is all of its probes. */
export function pastOf(run: RunRecord | undefined): PastRun {
  if (!run)
    return { sinceToken: 0, observedAtMs: 0, tick: false, degraded: false, degradedTold: false, lateOverflow: false };
  const { sinceToken = 0, observedAtMs, tick = false, degraded, degradedTold = degraded, late, lateOverflow } = run;
  return { sinceToken, observedAtMs, tick, degraded, degradedTold, lateOverflow: lateOverflow || late.length > 0 };
}
