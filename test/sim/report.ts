/** What a simulation prints: a line for each seed, and one table over all of them. */
import type { CrashPoint } from './crash-points.ts';
import type { FaultKind } from './faults.ts';
import type { Outcome } from './simulate.ts';

/** Sums over seeds; the outcomes themselves would not fit for long. */
export type Total = {
  seeds: number;
  hours: number;
  violations: number;
  probes: number;
  commits: number;
  duplicates: number;
  readonly faults: Map<FaultKind, number>;
  readonly crashPoints: Map<string, CrashPoint>;
  readonly gapsMs: Histogram;
  readonly detectionsMs: Histogram;
};

export const newTotal = (): Total => ({
  seeds: 0,
  hours: 0,
  violations: 0,
  probes: 0,
  commits: 0,
  duplicates: 0,
  faults: new Map(),
  crashPoints: new Map(),
  gapsMs: histogram(),
  detectionsMs: histogram(),
});

export function add(total: Total, outcome: Outcome): void {
  const { measured } = outcome;
  total.seeds += 1;
  total.hours += outcome.hours;
  total.violations += outcome.violations.length + outcome.troubles.length;
  total.probes += measured.probes;
  total.commits += measured.commits;
  total.duplicates += measured.duplicates;
  for (const [kind, count] of outcome.faults) total.faults.set(kind, (total.faults.get(kind) ?? 0) + count);
  for (const [name, { passed, struck }] of outcome.crashPoints) {
    const known = total.crashPoints.get(name) ?? { passed: 0, struck: 0 };
    total.crashPoints.set(name, { passed: known.passed + passed, struck: known.struck + struck });
  }
  for (const ms of measured.gapsMs) total.gapsMs.add(ms);
  for (const ms of measured.detectionsMs) total.detectionsMs.add(ms);
}

export const seedLine = ({ seed, traceHash, measured, violations, troubles, faults }: Outcome): string =>
  [
    `seed ${seed}`.padEnd(16),
    `trace ${traceHash}`,
    `${measured.probes} probes`,
    `${measured.commits} commits`,
    `${sum(faults.values())} faults`,
    `${violations.length + troubles.length} violations`,
  ].join('  ');

export function violationLines({ violations, troubles }: Outcome): readonly string[] {
  const shown = violations.map(({ invariant, timeMs, detail }) => `  ${invariant} at ${timeMs} ms: ${detail}`);
  return [...shown, ...troubles.slice(0, 5).map((trouble) => `  unexpected: ${trouble}`)];
}

/** The one command that repeats a seed, line by line of its trace. */
export const repeatCommand = ({ seed, hours }: Pick<Outcome, 'seed' | 'hours'>): string =>
  `npm run sim -- --seeds 1 --hours ${hours} --seed ${seed}`;

export function table(total: Total): readonly string[] {
  const faults = sum(total.faults.values());
  const points = [...total.crashPoints.values()];
  const struck = points.filter((point) => point.struck > 0).length;
  const rows: readonly (readonly [string, string])[] = [
    ['seeds', `${total.seeds}`],
    ['simulated hours', `${total.hours}`],
    ['violations', `${total.violations}`],
    ['probes', `${total.probes} (${perHour(total.probes, total)} an hour)`],
    ['commits', `${total.commits}`],
    ['faults', `${faults} (${perHour(faults, total)} an hour)`],
    ...[...total.faults]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([kind, count]) => [`  ${kind}`, `${count}`] as const),
    ['crash points', `${struck} of ${points.length} struck`],
    ['gap beyond the period', `${quantiles(total.gapsMs)}`],
    ['detection beyond the threshold', `p99 ${seconds(total.detectionsMs.quantile(0.99))}`],
    ['duplicate probes', `${((100 * total.duplicates) / Math.max(1, total.probes)).toFixed(3)} %`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}

const perHour = (count: number, { hours }: Total): number => Math.round(count / Math.max(1, hours));

const quantiles = (gaps: Histogram): string =>
  `p50 ${seconds(gaps.quantile(0.5))}, p99 ${seconds(gaps.quantile(0.99))}, p99.9 ${seconds(gaps.quantile(0.999))}, max ${seconds(gaps.max())}`;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const sum = (values: Iterable<number>): number => [...values].reduce((all, one) => all + one, 0);

export type Histogram = { add(ms: number): void; quantile(part: number): number; max(): number };

const stepMs = 100;

/** To a tenth of a second. */
function histogram(): Histogram {
  const counts = new Map<number, number>();
  let all = 0;
  let max = 0;
  return {
    add(ms) {
      const step = Math.ceil(ms / stepMs);
      counts.set(step, (counts.get(step) ?? 0) + 1);
      all += 1;
      max = Math.max(max, ms);
    },
    quantile(part) {
      let left = part * all;
      for (const [step, count] of [...counts].sort(([one], [other]) => one - other)) {
        left -= count;
        if (left <= 0) return step * stepMs;
      }
      return max;
    },
    max: () => max,
  };
}
