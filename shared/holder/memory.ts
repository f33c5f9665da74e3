/**
 * What a process remembers about the shards that it held last, so that their next run starts warm. If a shard's next
 * run goes elsewhere, the process forgets the shard and the metric series of its workers. Otherwise a process that
 * holds one shard after the other would accumulate all of them.
 */
import type { ProbeMetrics } from '../prober/metrics.ts';
import { HeldTargets } from './held-targets.ts';
import type { Holder } from './holder.ts';
import type { Loaded } from './load.ts';

/** By shard. The claim decides whether a run may continue with an entry. */
export type ShardMemory = Map<string, Kept>;

export type Kept = {
  readonly token: number;
  /** An entry of another generation is not used: other shards may hold some of its buckets by now. */
  readonly generation: number;
  readonly targets: Holder['targets'];
  /** undefined if the run ended in doubt: the next run continues only with its metric series. */
  readonly loaded: Loaded | undefined;
  /** Monotonic. */
  readonly keptAtMs: number;
  /** How far the wall time of the targets' tickers is ahead of monotonic time. */
  readonly wallOffsetMs: number;
};

/** A shard's next run begins at once or, in tick mode, in the next minute, which may be late. */
const keptMs = 150_000;

type Forgetting = { readonly metrics: ProbeMetrics; readonly nowMs: number };

/** Forgets entries that are too old. `nowMs`: monotonic. */
export function forgetOld(memory: ShardMemory, { metrics, nowMs }: Forgetting): void {
  for (const [shard, { keptAtMs, targets }] of memory) {
    if (nowMs - keptAtMs < keptMs) continue;
    memory.delete(shard);
    removeSeries(metrics, targets);
  }
}

/** The workers of these targets have ended in this process, except those that it holds again (`held`). */
export function removeSeries(metrics: ProbeMetrics, targets: Holder['targets'], held?: Holder['targets']): void {
  const kept = new Set(labelsOf(held ?? new HeldTargets()).map((labels) => JSON.stringify(labels)));
  for (const labels of labelsOf(targets)) if (!kept.has(JSON.stringify(labels))) metrics.remove(labels);
}

const labelsOf = (targets: Holder['targets']) =>
  [...targets.values()].flatMap(({ probes }) => [...probes.values()].map(({ labels }) => labels));
