/**
 * What a process remembers of the shards that it held last, so that their next run begins warm. A shard whose next run goes elsewhere is
 * forgotten, and so are the metric series of its workers: a process that holds one shard after the other would fill with all of them.
 */
import type { ProbeMetrics } from '../prober/metrics.ts';
import type { Holder } from './holder.ts';
import type { Loaded } from './load.ts';

/** By shard; whether a run may go on with it is decided at the claim. */
export type ShardMemory = Map<string, Kept>;

export type Kept = {
  readonly token: number;
  /** Of another generation's range some buckets are somebody else's by now. */
  readonly generation: number;
  readonly targets: Holder['targets'];
  /** undefined: the run ended in doubt. Its metric series are all that the next one goes on with. */
  readonly loaded: Loaded | undefined;
  /** Monotonic. */
  readonly keptAtMs: number;
  /** By how much the wall time that the targets' tickers are set by is ahead of monotonic time. */
  readonly wallOffsetMs: number;
};

/** A shard's next run begins at once, or in tick mode with the next minute, which may be late. */
const keptMs = 150_000;

type Forgetting = { readonly metrics: ProbeMetrics; readonly nowMs: number };

/** Forgets what is too old; `nowMs`: monotonic. */
export function forgetOld(memory: ShardMemory, { metrics, nowMs }: Forgetting): void {
  for (const [shard, { keptAtMs, targets }] of memory) {
    if (nowMs - keptAtMs < keptMs) continue;
    memory.delete(shard);
    removeSeries(metrics, targets);
  }
}

/** The workers of these targets have ended in this process, but for those that it holds anew. */
export function removeSeries(metrics: ProbeMetrics, targets: Holder['targets'], held?: Holder['targets']): void {
  const kept = new Set(labelsOf(held ?? new Map()).map((labels) => JSON.stringify(labels)));
  for (const labels of labelsOf(targets)) if (!kept.has(JSON.stringify(labels))) metrics.remove(labels);
}

const labelsOf = (targets: Holder['targets']) =>
  [...targets.values()].flatMap(({ probes }) => [...probes.values()].map(({ labels }) => labels));
