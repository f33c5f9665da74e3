/** What the runs of one process have to tell, in sums: once a minute, and at their end. Never by target, and nothing is kept by target. */
import { type Clock, sleep } from '../../shared/lib/clock.ts';
import type { RunView } from '../../shared/manager/run-shard.ts';
import type { ProbeMetrics } from '../../shared/prober/metrics.ts';
import type { FunctionMetrics, MetricName, MetricValues } from '../lambda/metrics.ts';

const intervalMs = 60_000;

const countNames = { successful: 'ProbesSuccessful', failed: 'ProbesFailed', unknown: 'ProbesUnknown' } as const;

type Counted = (typeof countNames)[keyof typeof countNames];

export type ReportedProbes = ProbeMetrics & {
  /** What was counted since it was last asked. */
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
    // Nothing is kept of a worker.
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
  /** A run once it has loaded its targets. */
  readonly view: () => RunView | undefined;
};

/** Reports until it is told to end, and once more then. */
export function keepReporting({ clock, metrics, probes, view }: Reporting) {
  const over = new AbortController();
  let shown = false;
  const report = (held: MetricValues, more: MetricValues = {}) =>
    metrics.emit({ ...probes.take(), ...held, ...more } satisfies { readonly [name in MetricName]?: number });
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
    /** A shard that has told what it holds is told of again by its next run: twice in a minute it would count twice. */
    async end(more: MetricValues = {}): Promise<void> {
      over.abort();
      await kept;
      const seen = shown ? undefined : view();
      report(seen ? heldBy(seen) : {}, more);
    },
  };
}

const heldBy = ({ targets, beat, quarantined }: RunView): MetricValues => ({
  TargetsHeld: targets,
  ProbesLate: beat.late,
  ShardsDegraded: beat.doubt ? 1 : 0,
  ItemsQuarantined: quarantined.length,
});
