/**
 * The dashboard: whether targets are probed, what the results are, and what it costs. Without detailed metrics it shows
 * those that the alarms watch and those that AWS publishes.
 */
import { Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IAlarm,
  type IMetric,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { functionNames } from '../functions/bundling.ts';
import type { MetricName } from '../functions/lambda/metrics.ts';
import { productMetric, type WatchedParts } from './alarms.ts';

type DashboardParts = WatchedParts & {
  readonly table: ITableV2;
  readonly alarms: readonly IAlarm[];
  readonly queues: readonly Queue[];
  readonly detailedMetrics: boolean;
};

const width = 12;
const wide = 24;

export function dashboard(scope: Construct, id: string, shown: DashboardParts): Dashboard {
  const { functions, alarms, queues, detailedMetrics } = shown;
  const all = Object.values(functions);
  return new Dashboard(scope, id, {
    defaultInterval: Duration.hours(3),
    widgets: [
      [new AlarmStatusWidget({ title: 'Alarms', width: wide, alarms: [...alarms] })],
      ...(detailedMetrics ? detailed(shown) : plain(shown)),
      [
        graph(
          'Errors',
          all.map((one) => one.metricErrors()),
        ),
        graph(
          'Throttles',
          all.map((one) => one.metricThrottles()),
        ),
      ],
      [
        graph(
          'Duration',
          all.map((one) => one.metricDuration({ statistic: Stats.MAXIMUM })),
        ),
        graph(
          'Messages waiting',
          queues.map((one) => one.metricApproximateNumberOfMessagesVisible()),
        ),
      ],
    ],
  });
}

const fromProber = ({ stage }: DashboardParts, name: MetricName) => productMetric(stage, name, 'prober', Stats.SUM);

const withoutHolder = ({ stage }: DashboardParts) => productMetric(stage, 'ShardsWithoutHolder', 'schedule');

function plain(shown: DashboardParts): readonly GraphWidget[][] {
  const { table } = shown;
  const units = [table.metricConsumedReadCapacityUnits(), table.metricConsumedWriteCapacityUnits()];
  const problems = [withoutHolder(shown), fromProber(shown, 'ShardsDegraded'), fromProber(shown, 'ProbesLate')];
  return [
    [
      graph('Shards without holder, shards degraded, probes late', problems),
      graph('Capacity units of the table', units),
    ],
  ];
}

function detailed(shown: DashboardParts): readonly GraphWidget[][] {
  const { stage } = shown;
  const probes = (['ProbesSuccessful', 'ProbesFailed', 'ProbesUnknown'] as const).map((one) => fromProber(shown, one));
  const units = (name: 'ReadUnits' | 'WriteUnits') =>
    functionNames.map((one) => productMetric(stage, name, one, Stats.SUM));
  const held = [fromProber(shown, 'TargetsHeld'), fromProber(shown, 'ProbesLate')];
  const shards = [productMetric(stage, 'Shards', 'schedule'), withoutHolder(shown)];
  return [
    [graph('Shards', [...shards, fromProber(shown, 'ShardsDegraded')]), graph('Targets held, probes late', held)],
    [graph('Probes', probes), graph('Capacity units of the table', [...units('ReadUnits'), ...units('WriteUnits')])],
  ];
}

const graph = (title: string, left: readonly IMetric[]): GraphWidget =>
  new GraphWidget({ title, width, left: [...left] });
