/**
 * Metrics as lines of the log, in CloudWatch's embedded metric format: no call, no agent. Their dimensions are the stage and the function,
 * never a target: what they cost does not grow with what is probed. Source: "Specification: Embedded metric format", CloudWatch.
 */
import type { Clock } from '../../shared/lib/clock.ts';
import type { StoreCall } from '../../shared/store/item-size.ts';
import type { FunctionName } from '../bundling.ts';
import { writeLine } from './log.ts';

export const metricsNamespace = 'probelet';

/** Every metric there is, with its unit. Alarms and the dashboard name them. */
const metricUnits = {
  /** Probes by verdict, as kubelet's `prober_probe_total`. */
  ProbesSuccessful: 'Count',
  ProbesFailed: 'Count',
  ProbesUnknown: 'Count',
  /** The longest probe since the last line. */
  ProbeDurationMax: 'Milliseconds',
  /** Of each shard once a minute: what it holds, what has not been probed for too long, whether its prober doubts itself. */
  TargetsHeld: 'Count',
  ProbesLate: 'Count',
  ShardsDegraded: 'Count',
  ItemsQuarantined: 'Count',
  /** Runs that ended in doubt: nobody knows whether they still held their shard. */
  RunsInDoubt: 'Count',
  /** Once a minute, by the schedule. */
  Shards: 'Count',
  ShardsWithoutHolder: 'Count',
  MessagesNotSent: 'Count',
  /** What could not be decoded. */
  EventsMalformed: 'Count',
  /** Requests that AWS refused for want of a right. Told only when there were some. */
  AccessDenied: 'Count',
  /** Capacity units of the table. */
  ReadUnits: 'Count',
  WriteUnits: 'Count',
} as const;

export type MetricName = keyof typeof metricUnits;

/** Which function tells which: each is one metric to pay for, whatever the fleet. */
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
  /** One line with these values, which are of `metricsOf`, and with what the store was asked for since the last one. */
  emit(values?: MetricValues): void;
  /** For the store. */
  readonly onCall: (call: StoreCall) => void;
  /** For whatever asks AWS. */
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
      if (unknown.length > 0) throw new Error(`${service} tells no ${unknown.join(', ')}`);
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
