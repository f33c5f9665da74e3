/**
 * Metrics in CloudWatch's embedded metric format: lines of the log, without a call or an agent. Their dimensions are
 * stage and function, never a target, so their cost does not grow with the number of targets. By default only what
 * alarms watch becomes a metric; the other values are fields of the log line. Source: "Specification: Embedded metric
 * format", CloudWatch.
 */

import type { Clock } from '../../shared/lib/clock.ts';
import type { StoreCall } from '../../shared/store/dynamodb/capacity.ts';
import type { FunctionName } from '../bundling.ts';
import { writeLine } from './log.ts';

export const metricsNamespace = 'probelet';

/** All values with their units as metrics. Alarms and the dashboard refer to these names. */
const metricUnits = {
  /** Probes by result, like kubelet's `prober_probe_total`. */
  ProbesSuccessful: 'Count',
  ProbesFailed: 'Count',
  ProbesUnknown: 'Count',
  /** The longest probe since the previous line. */
  ProbeDurationMax: 'Milliseconds',
  /** For each shard once a minute: the targets held, the late probes, and whether its self-check failed. */
  TargetsHeld: 'Count',
  ProbesLate: 'Count',
  ShardsDegraded: 'Count',
  ItemsQuarantined: 'Count',
  /** For how long no status has taken in a change of a result; 0 as long as that is usual. */
  StatusBehind: 'Seconds',
  /** Resident memory of the process, and 1 where little is left of what it may use. */
  MemoryUsed: 'Megabytes',
  MemoryShort: 'Count',
  /** Runs that could not determine at their end whether they still held their shard. */
  RunsInDoubt: 'Count',
  /** Published once a minute by the schedule. */
  Shards: 'Count',
  ShardsWithoutHolder: 'Count',
  MessagesNotSent: 'Count',
  /** Events that could not be decoded. */
  EventsMalformed: 'Count',
  /** Requests that AWS denied for a missing permission. Published only if there were any. */
  AccessDenied: 'Count',
  /** Capacity units of the table. */
  ReadUnits: 'Count',
  WriteUnits: 'Count',
} as const;

export type MetricName = keyof typeof metricUnits;

/** The values that each function counts, and that become metrics with `detailedMetrics`. */
export const metricsOf = {
  schedule: ['Shards', 'ShardsWithoutHolder', 'MessagesNotSent', 'AccessDenied', 'ReadUnits', 'WriteUnits'],
  prober: [
    'ProbesSuccessful',
    'ProbesFailed',
    'ProbesUnknown',
    'ProbeDurationMax',
    'TargetsHeld',
    'ProbesLate',
    'ShardsDegraded',
    'ItemsQuarantined',
    'StatusBehind',
    'MemoryUsed',
    'MemoryShort',
    'RunsInDoubt',
    'EventsMalformed',
    'AccessDenied',
    'ReadUnits',
    'WriteUnits',
  ],
  'status-sync': ['EventsMalformed', 'AccessDenied', 'ReadUnits', 'WriteUnits'],
  api: ['EventsMalformed', 'AccessDenied', 'ReadUnits', 'WriteUnits'],
} as const satisfies { readonly [name in FunctionName]: readonly MetricName[] };

/** Published in every line, because missing data is an alarm too: the schedule does not run. */
const alwaysPublished: readonly MetricName[] = ['ShardsWithoutHolder'];

/**
 * Published while there is such a problem and for `calmMs` afterwards. A metric is billed for the hours in which it has
 * data (https://aws.amazon.com/cloudwatch/pricing/), so these cost nothing as long as all is well.
 */
const problemMetrics: readonly MetricName[] = [
  'ShardsDegraded',
  'ProbesLate',
  'StatusBehind',
  'MemoryShort',
  'AccessDenied',
];

/**
 * How long a problem is reported as over. CloudWatch fills an alarm's window with older data where newer data is
 * missing ("Configuring how CloudWatch alarms treat missing data"), so without these zeros an old problem would count
 * again. Longer than the window of any of the alarms.
 */
export const calmMs = 10 * 60_000;

export type MetricValues = { readonly [Name in MetricName]?: number };

export type FunctionMetrics = {
  /**
   * Writes one line with these values, which must be listed in `metricsOf`, and with the store's capacity units since
   * the previous line.
   */
  emit(values?: MetricValues): void;
  /** Pass to the store. */
  readonly onCall: (call: StoreCall) => void;
  /** Pass to every adapter that calls AWS. */
  readonly onDenied: () => void;
};

type Options = {
  readonly stage: string;
  readonly service: FunctionName;
  /** Whether all values become metrics. Default: those that alarms watch. */
  readonly detailed?: boolean;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly write?: (line: string) => void;
};

export function functionMetrics(options: Options): FunctionMetrics {
  const { stage, service, clock, detailed = false, write = writeLine } = options;
  const isPublished = detailed ? () => true : alarmMetrics(clock);
  let units = { ReadUnits: 0, WriteUnits: 0 };
  let denials = 0;
  return {
    emit(values = {}) {
      const all: MetricValues = { ...values, ...units, ...(denials > 0 && { AccessDenied: denials }) };
      const unknown = names(all).filter((name) => !isOf(service, name));
      if (unknown.length > 0) throw new Error(`${service} publishes no ${unknown.join(', ')}`);
      units = { ReadUnits: 0, WriteUnits: 0 };
      denials = 0;
      const published = names(all).filter((name) => isPublished(name, all[name] ?? 0));
      write(JSON.stringify({ ...embedded(published, clock.nowMs()), Stage: stage, Function: service, ...all }));
    },
    onDenied() {
      denials += 1;
    },
    onCall({ readUnits, writeUnits }) {
      units = { ReadUnits: units.ReadUnits + readUnits, WriteUnits: units.WriteUnits + writeUnits };
    },
  };
}

const isOf = (service: FunctionName, name: MetricName): boolean =>
  metricsOf[service].some((known: MetricName) => known === name);

/** Decides which values the alarms need. It remembers when there was last a problem of each kind. */
function alarmMetrics({ monotonicMs }: Pick<Clock, 'monotonicMs'>) {
  const problemAtMs = new Map<MetricName, number>();
  return (name: MetricName, value: number): boolean => {
    if (!problemMetrics.includes(name)) return alwaysPublished.includes(name);
    if (value > 0) problemAtMs.set(name, monotonicMs());
    return monotonicMs() - (problemAtMs.get(name) ?? Number.NEGATIVE_INFINITY) <= calmMs;
  };
}

/** Without published metrics the line is a line of the log like any other. */
function embedded(published: readonly MetricName[], nowMs: number) {
  if (published.length === 0) return {};
  const Metrics = published.map((Name) => ({ Name, Unit: metricUnits[Name] }));
  const CloudWatchMetrics = [{ Namespace: metricsNamespace, Dimensions: [['Stage', 'Function']], Metrics }];
  return { _aws: { Timestamp: Math.floor(nowMs), CloudWatchMetrics } };
}

const names = (values: MetricValues): readonly MetricName[] =>
  (Object.keys(metricUnits) as MetricName[]).filter((name) => values[name] !== undefined);

/** The number of metrics billed while all is well, each for one stage and one function. */
export const metricCount = (detailed: boolean): number =>
  Object.values(metricsOf)
    .flat()
    .filter((name) => (detailed ? name !== 'AccessDenied' : alwaysPublished.includes(name))).length;
