/** What RUN says about one bucket. Shards of two layouts may share a name but have different buckets. */
import type { EpochRecord, PastRun, RunRecord } from './items.ts';

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
