/**
 * Sums the metrics of a process's runs and publishes them once a minute and at the end of each run. Nothing is
 * published or kept per target.
 */

import type { RunView } from '../../shared/holder/shard-run.ts';
import { type Clock, sleep } from '../../shared/lib/clock.ts';
import type { ProbeMetrics } from '../../shared/prober/metrics.ts';
import type { FunctionMetrics, MetricName, MetricValues } from '../lambda/metrics.ts';
import type { ProcessMemory } from './process-memory.ts';

const intervalMs = 60_000;

const countNames = { successful: 'ProbesSuccessful', failed: 'ProbesFailed', unknown: 'ProbesUnknown' } as const;

type Counted = (typeof countNames)[keyof typeof countNames];

export type ReportedProbes = ProbeMetrics & {
  /** Returns the counts since the previous call. */
  take(): MetricValues;
};

export function countedProbes(): ReportedProbes {
  const none: Readonly<Record<Counted, number>> = { ProbesSuccessful: 0, ProbesFailed: 0, ProbesUnknown: 0 };
  let counts = { ...none };
  let maxMs: number | undefined;
  return {
    observe(_, result, durationSeconds) {
      counts[countNames[result]] += 1;
      maxMs = Math.max(maxMs ?? 0, durationSeconds * 1_000);
    },
    // Nothing is kept per worker.
    remove: () => {},
    take() {
      const taken = { ...counts, ...(maxMs !== undefined && { ProbeDurationMax: Math.round(maxMs) }) };
      counts = { ...none };
      maxMs = undefined;
      return taken;
    },
  };
}

export type Reporting = {
  readonly clock: Clock;
  readonly metrics: FunctionMetrics;
  readonly probes: ReportedProbes;
  /** The run's view, once it has loaded its targets. */
  readonly view: () => RunView | undefined;
  readonly memory: () => ProcessMemory | undefined;
};

/** Publishes until `end` is called, and once more then. */
export function keepReporting({ clock, metrics, probes, view, memory }: Reporting) {
  const over = new AbortController();
  let shown = false;
  const report = (held: MetricValues, more: MetricValues = {}) =>
    metrics.emit({ ...probes.take(), ...memoryValues(memory()), ...held, ...more } satisfies {
      readonly [name in MetricName]?: number;
    });
  const keep = async () => {
    for (;;) {
      await sleep(clock, intervalMs, over.signal);
      if (over.signal.aborted) return;
      const seen = view();
      shown ||= seen !== undefined;
      report(seen ? heldBy(seen) : {});
    }
  };
  const kept = keep();
  return {
    /**
     * A shard that has been published during the run is left out at the end, because its next run publishes it within
     * the same minute.
     */
    async end(more: MetricValues = {}): Promise<void> {
      over.abort();
      await kept;
      const seen = shown ? undefined : view();
      report(seen ? heldBy(seen) : {}, more);
    },
  };
}

/** A status takes in a change within seconds, after the failure of thousands within half a minute. */
export const statusBehindMsMin = 30_000;

const heldBy = ({ targets, beat, quarantined, statusBehindMs }: RunView): MetricValues => ({
  TargetsHeld: targets,
  ProbesLate: beat.late,
  ShardsDegraded: beat.doubt ? 1 : 0,
  ItemsQuarantined: quarantined.length,
  StatusBehind: statusBehindMs < statusBehindMsMin ? 0 : Math.floor(statusBehindMs / 1_000),
});

/** Lambda and ECS kill a process that needs more than it may use; its runs then begin again, with as much to hold. */
const memoryPartMax = 0.9;

const memoryValues = (memory: ProcessMemory | undefined): MetricValues =>
  memory ? { MemoryUsed: memory.usedMb, MemoryShort: memory.usedMb > memoryPartMax * memory.limitMb ? 1 : 0 } : {};
