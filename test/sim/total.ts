/** Sums over seeds, in bounded memory. */
import { createHash } from 'node:crypto';
import type { CrashPoint } from './crash-points.ts';
import type { FaultKind } from './faults.ts';
import { merge } from './histogram.ts';
import { type Delays, newMeasured } from './measure.ts';
import type { Outcome } from './simulate.ts';

export type Total = {
  seeds: number;
  hours: number;
  readonly failing: Pick<Outcome, 'seed' | 'hours' | 'world'>[];
  violations: number;
  probes: number;
  commits: number;
  duplicates: number;
  readonly calls: Outcome['calls'];
  readonly faults: Map<FaultKind, number>;
  readonly crashPoints: Map<string, CrashPoint>;
  readonly gaps: Delays;
  readonly detections: Delays;
  /** Of all traces, in the order of the seeds. */
  traceHash(): string;
  add(outcome: Outcome): void;
};

export function newTotal(): Total {
  const hash = createHash('sha256');
  const { gaps, detections } = newMeasured();
  const total: Total = {
    seeds: 0,
    hours: 0,
    failing: [],
    violations: 0,
    probes: 0,
    commits: 0,
    duplicates: 0,
    calls: { admitted: 0, throttled: 0, throttledOfRun: 0 },
    faults: new Map(),
    crashPoints: new Map(),
    gaps,
    detections,
    traceHash: () => hash.copy().digest('hex').slice(0, 16),
    add(outcome) {
      hash.update(`${outcome.traceHash}\n`);
      addOutcome(total, outcome);
    },
  };
  return total;
}

function addOutcome(total: Total, outcome: Outcome): void {
  const { measured } = outcome;
  const violations = countViolations(outcome);
  total.seeds += 1;
  total.hours += simulatedHours(outcome);
  total.violations += violations;
  if (violations > 0) total.failing.push({ seed: outcome.seed, hours: outcome.hours, world: outcome.world });
  total.probes += measured.probes;
  total.commits += measured.commits;
  total.duplicates += measured.duplicates;
  total.calls.admitted += outcome.calls.admitted;
  total.calls.throttled += outcome.calls.throttled;
  total.calls.throttledOfRun += outcome.calls.throttledOfRun;
  for (const [kind, count] of outcome.faults) total.faults.set(kind, (total.faults.get(kind) ?? 0) + count);
  for (const [name, { passed, struck }] of outcome.crashPoints) {
    const known = total.crashPoints.get(name) ?? { passed: 0, struck: 0 };
    total.crashPoints.set(name, { passed: known.passed + passed, struck: known.struck + struck });
  }
  for (const part of ['inOutage', 'otherwise'] as const) {
    merge(total.gaps[part], measured.gaps[part]);
    merge(total.detections[part], measured.detections[part]);
  }
}

/** Unexpected exceptions count too. */
export const countViolations = ({ violations, problems }: Pick<Outcome, 'violations' | 'problems'>): number =>
  violations.length + problems.length;

const hourMs = 3_600_000;

/** A violation ends its seed with its hour. */
function simulatedHours({ violations, hours }: Outcome): number {
  const last = violations.at(-1);
  return last ? Math.min(hours, Math.ceil(last.timeMs / hourMs)) : hours;
}
