/**
 * Metrics in CloudWatch's embedded metric format: lines of the log, without a call or an agent. Their dimensions are
 * stage and function, never a target, so their cost does not grow with the number of targets. Source: "Specification:
 * Embedded metric format", CloudWatch.
 */
import type { Clock } from '../../shared/lib/clock.ts';
import type { StoreCall } from '../../shared/store/item-size.ts';
import type { FunctionName } from '../bundling.ts';
import { writeLine } from './log.ts';

export const metricsNamespace = 'probelet';

/** All metrics with their units. Alarms and the dashboard refer to these names. */
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

/** The metrics of each function. Each one is billed as one metric, whatever the size of the fleet. */
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
    'RunsInDoubt',
    'EventsMalformed',
    'AccessDenied',
    'ReadUnits',
    'WriteUnits',
  ],
  'status-sync': ['EventsMalformed', 'AccessDenied', 'ReadUnits', 'WriteUnits'],
  api: ['EventsMalformed', 'AccessDenied', 'ReadUnits', 'WriteUnits'],
} as const satisfies { readonly [name in FunctionName]: readonly MetricName[] };

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
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly write?: (line: string) => void;
};

export function functionMetrics({ stage, service, clock, write = writeLine }: Options): FunctionMetrics {
  let units = { ReadUnits: 0, WriteUnits: 0 };
  let denials = 0;
  return {
    emit(values = {}) {
      const all: MetricValues = { ...values, ...units, ...(denials > 0 && { AccessDenied: denials }) };
      const unknown = names(all).filter((name) => !isOf(service, name));
      if (unknown.length > 0) throw new Error(`${service} publishes no ${unknown.join(', ')}`);
      units = { ReadUnits: 0, WriteUnits: 0 };
      denials = 0;
      write(JSON.stringify({ ...embedded(all, Math.floor(clock.nowMs())), Stage: stage, Function: service, ...all }));
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

const embedded = (values: MetricValues, timestampMs: number) => ({
  _aws: {
    Timestamp: timestampMs,
    CloudWatchMetrics: [
      {
        Namespace: metricsNamespace,
        Dimensions: [['Stage', 'Function']],
        Metrics: names(values).map((Name) => ({ Name, Unit: metricUnits[Name] })),
      },
    ],
  },
});

const names = (values: MetricValues): readonly MetricName[] =>
  (Object.keys(metricUnits) as MetricName[]).filter((name) => values[name] !== undefined);

/**
 * The number of billed metrics, each for one stage and one function. A metric that only counts problems costs nothing
 * while there are none.
 */
export const metricCount = Object.values(metricsOf)
  .flat()
  .filter((name) => name !== 'AccessDenied').length;
