/** What a simulation prints: a line for each seed, what failed, and one table over all of them. */
import { type Histogram, quantile } from './histogram.ts';
import type { Delays } from './measure.ts';
import type { Outcome } from './simulate.ts';
import { countViolations, type Total } from './total.ts';

export const seedLine = (outcome: Outcome): string =>
  [
    `seed ${outcome.seed}`.padEnd(16),
    `trace ${outcome.traceHash}`,
    `${outcome.measured.probes} probes`,
    `${outcome.measured.commits} commits`,
    `${sum(outcome.faults.values())} faults`,
    `${countViolations(outcome)} violations`,
  ].join('  ');

export function violationLines({ violations, problems }: Outcome): readonly string[] {
  const shown = violations.map(({ invariant, timeMs, detail }) => `  ${invariant} at ${timeMs} ms: ${detail}`);
  return [...shown, ...problems.slice(0, 5).map((problem) => `  unexpected: ${problem}`)];
}

/** The one command that repeats a seed, line by line of its trace. */
export const repeatCommand = ({ seed, hours, world }: Pick<Outcome, 'seed' | 'hours' | 'world'>): string =>
  `npm run sim -- --seeds 1 --hours ${hours}${world === 'small' ? '' : ` --world ${world}`} --seed ${seed}`;

/** Over many seeds there are none; over few the table stays one screen. */
const neverMax = 10;

type Row = readonly [name: string, value: string];

export function table(total: Total, cpuSeconds: number): readonly string[] {
  const { struck, never } = coverage(total);
  const faults = sum(total.faults.values());
  const rows: readonly Row[] = [
    ['seeds', `${total.seeds}`],
    ['simulated hours', `${total.hours}`],
    ['CPU seconds', `${cpuSeconds.toFixed(1)} (${(total.hours / cpuSeconds).toFixed(2)} simulated hours each)`],
    ['violations', `${total.violations}`],
    ['failing seeds', total.failing.map(({ seed }) => seed).join(' ') || 'none'],
    ['probes', counted(total.probes, total)],
    ['commits', counted(total.commits, total)],
    ['faults', counted(faults, total)],
    ...[...total.faults].sort(byName).map(([kind, count]): Row => [`  ${kind}`, counted(count, total)]),
    ['crash points', `${struck} of ${total.crashPoints.size} struck`],
    ...never.slice(0, neverMax).map(([name, { passed }]): Row => ['  never struck', `${name} (passed ${passed})`]),
    ...(never.length > neverMax ? [['  never struck', `${never.length - neverMax} more: --crashpoints`] as const] : []),
    ...delayRows('gap beyond the period', total.gaps),
    ...delayRows('detection beyond the threshold', total.detections),
    ...callRows(total),
    ['duplicate probes', `${(100 * duplicateRate(total)).toFixed(3)} %`],
    ['trace of all seeds', total.traceHash()],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}

/** `--crashpoints`: every await, how often it was struck and how often passed. */
export const crashPointLines = ({ crashPoints }: Total): readonly string[] =>
  [...crashPoints].sort(byName).map(([name, { passed, struck }]) => `${struck}/${passed} ${name}`);

/** For a program: the same figures, durations in ms. */
export function json(total: Total, cpuSeconds: number): object {
  const { struck, never } = coverage(total);
  const { seeds, hours, violations, failing, probes, commits } = total;
  return {
    seeds,
    hours,
    cpuSeconds,
    violations,
    failing: failing.map((seed) => ({ ...seed, command: repeatCommand(seed) })),
    probes,
    commits,
    faults: { total: sum(total.faults.values()), byKind: Object.fromEntries([...total.faults].sort(byName)) },
    crashPoints: { named: total.crashPoints.size, struck, neverStruck: never.map(([name]) => name) },
    gapMs: delaysJson(total.gaps),
    detectionMs: delaysJson(total.detections),
    duplicateRate: duplicateRate(total),
    traceHash: total.traceHash(),
  };
}

function coverage({ crashPoints }: Total) {
  const never = [...crashPoints].filter(([, { struck }]) => struck === 0).sort(byName);
  return { struck: crashPoints.size - never.length, never };
}

const duplicateRate = ({ duplicates, probes }: Total): number => duplicates / Math.max(1, probes);

const counted = (count: number, { hours }: Total): string =>
  `${count} (${(count / Math.max(1, hours)).toFixed(count < 100 * hours ? 1 : 0)} an hour)`;

const delayRows = (what: string, { otherwise, inOutage }: Delays): readonly Row[] => [
  [what, quantiles(otherwise)],
  ['  within a store outage', quantiles(inOutage)],
];

/** Of a table with a capacity. */
const callRows = ({ calls: { admitted, throttled } }: Total): readonly Row[] =>
  admitted === 0 ? [] : [['calls of the table', `${admitted}, and ${throttled} that were throttled`]];

const parts = { p50: 0.5, p99: 0.99, 'p99.9': 0.999 } as const;

const quantiles = (delays: Histogram): string =>
  [
    ...Object.entries(parts).map(([name, part]) => `${name} ${seconds(quantile(delays, part))}`),
    `max ${seconds(delays.maxMs)}`,
    `of ${delays.count}`,
  ].join(', ');

const delaysJson = ({ otherwise, inOutage }: Delays): object => ({
  otherwise: quantilesJson(otherwise),
  inOutage: quantilesJson(inOutage),
});

const quantilesJson = (delays: Histogram): object => ({
  ...Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, quantile(delays, part)])),
  max: delays.maxMs,
  count: delays.count,
});

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const sum = (values: Iterable<number>): number => [...values].reduce((all, one) => all + one, 0);

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;
