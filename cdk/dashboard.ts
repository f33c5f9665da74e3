/** The dashboard: whether targets are probed, what the results are, and what it costs. */
import { Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IAlarm,
  type IMetric,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { productMetric, type Watched } from './alarms.ts';

type Shown = Watched & { readonly alarms: readonly IAlarm[]; readonly queues: readonly Queue[] };

const width = 12;
const wide = 24;

export function dashboard(scope: Construct, id: string, { stage, functions, alarms, queues }: Shown): Dashboard {
  const all = Object.values(functions);
  const fromProber = (name: Parameters<typeof productMetric>[1]) => productMetric(stage, name, 'prober', Stats.SUM);
  const units = (name: 'ReadUnits' | 'WriteUnits') =>
    (['schedule', 'prober', 'status-sync', 'api'] as const).map((one) => productMetric(stage, name, one, Stats.SUM));
  return new Dashboard(scope, id, {
    defaultInterval: Duration.hours(3),
    widgets: [
      [new AlarmStatusWidget({ title: 'Alarms', width: wide, alarms: [...alarms] })],
      [
        graph('Shards', [
          productMetric(stage, 'Shards', 'schedule'),
          productMetric(stage, 'ShardsWithoutHolder', 'schedule'),
          fromProber('ShardsDegraded'),
        ]),
        graph('Targets held, probes late', [fromProber('TargetsHeld'), fromProber('ProbesLate')]),
      ],
      [
        graph('Probes', [fromProber('ProbesSuccessful'), fromProber('ProbesFailed'), fromProber('ProbesUnknown')]),
        graph('Capacity units of the table', [...units('ReadUnits'), ...units('WriteUnits')]),
      ],
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

const graph = (title: string, left: readonly IMetric[]): GraphWidget =>
  new GraphWidget({ title, width, left: [...left] });
