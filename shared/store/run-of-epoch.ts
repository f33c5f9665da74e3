/** What RUN says of one bucket. Shards of two layouts may have the same name and other buckets. */
import type { EpochRecord, PastRun, RunRecord } from './items.ts';

export type ObservedRun = Pick<RunRecord, 'observedAtMs' | 'tick' | 'degraded' | 'degradedTold' | 'behind'>;

/** RUN of the shard that the bucket's EPOCH names; undefined: it says nothing of this bucket any more. */
export function observedFor({ token }: EpochRecord, run: RunRecord): ObservedRun | undefined {
  if (token >= (run.sinceToken ?? 0)) return run;
  const { previous } = run;
  return previous && token >= previous.sinceToken ? previous : undefined;
}

/** What to remember of a RUN that another generation is about to overwrite: no probe was last done before `observedAtMs`. */
export function pastOf(run: RunRecord | undefined): PastRun {
  if (!run) return { sinceToken: 0, observedAtMs: 0, tick: false, degraded: false, degradedTold: false };
  const { sinceToken = 0, observedAtMs, tick = false, degraded, degradedTold = degraded, behind = {} } = run;
  const leastMs = Math.min(observedAtMs, ...Object.values(behind));
  return { sinceToken, observedAtMs: leastMs, tick, degraded, degradedTold };
}
