/** The alarms that an operator must act on. docs/operating.md, Alarms, explains each. */
import { Duration, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type FunctionName, functionNames } from '../functions/bundling.ts';
import { type MetricName, metricsNamespace } from '../functions/lambda/metrics.ts';
import type { ProberTasks } from './prober-tasks.ts';

export type WatchedParts = {
  readonly stage: string;
  readonly functions: { readonly [name in FunctionName]: LambdaFunction };
  readonly deadLetters: { readonly [name: string]: Queue };
  readonly tasks: ProberTasks | undefined;
  readonly table: ITableV2;
  /** The queue of status-sync. */
  readonly syncs: Queue;
};

type Rule = {
  readonly id: string;
  readonly metric: IMetric;
  readonly description: string;
  /** The metric breaches below this value. By default it breaches at 1 and above. */
  readonly below?: number;
  /** The metric breaches from this value on. */
  readonly atLeast?: number;
  /** The alarm needs `periods` breaching periods out of `of`. */
  readonly periods: number;
  readonly of: number;
  /** Whether missing data counts as breaching. */
  readonly missing: TreatMissingData;
};

/** A metric that the functions write to their logs. */
export const productMetric = (
  stage: string,
  name: MetricName,
  functionName: FunctionName,
  statistic: string = Stats.MAXIMUM,
) =>
  new Metric({
    namespace: metricsNamespace,
    metricName: name,
    dimensionsMap: { Stage: stage, Function: functionName },
    statistic,
    period: Duration.minutes(1),
  });

export class Alarms extends Construct {
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, watched: WatchedParts, topic: ITopic | undefined) {
    super(scope, id);
    const rules = [
      ...functionRules(watched),
      ...deadLetterRules(watched),
      ...syncRules(watched),
      ...proberRules(watched),
      ...taskRules(watched),
      ...tableRules(watched),
    ];
    this.alarms = rules.map((rule) => alarmOf(this, rule));
    if (topic === undefined) return;
    topic.addToResourcePolicy(alarmsMayPublish(topic, Stack.of(this).account));
    const action = new SnsAction(topic);
    for (const alarm of this.alarms) {
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }
}

/** A topic with a resource policy, which `enforceSSL` creates, denies every principal that the policy does not name. */
const alarmsMayPublish = ({ topicArn }: ITopic, account: string): PolicyStatement =>
  new PolicyStatement({
    sid: 'AlarmsMayPublish',
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions: ['sns:Publish'],
    resources: [topicArn],
    conditions: { StringEquals: { 'aws:SourceAccount': account } },
  });

const alarmOf = (scope: Construct, { id, metric, description, below, atLeast = 1, ...rest }: Rule): Alarm =>
  new Alarm(scope, id, {
    metric,
    alarmDescription: description,
    comparisonOperator:
      below === undefined
        ? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
        : ComparisonOperator.LESS_THAN_THRESHOLD,
    threshold: below ?? atLeast,
    datapointsToAlarm: rest.periods,
    evaluationPeriods: rest.of,
    treatMissingData: rest.missing,
  });

const once = { periods: 1, of: 1, missing: TreatMissingData.NOT_BREACHING } as const;
const fiveMinutes = { period: Duration.minutes(5), statistic: Stats.SUM } as const;

/** The handlers answer expected failures and do not throw, so a single error is a bug or an outage. */
const functionRules = ({ functions, stage }: WatchedParts): readonly Rule[] =>
  functionNames.flatMap((name) => functionAlarms(stage, name, functions[name]));

const functionAlarms = (stage: string, name: FunctionName, one: LambdaFunction): readonly Rule[] => [
  {
    id: `Errors ${name}`,
    metric: one.metricErrors(fiveMinutes),
    description: `${name} failed: a bug, or an unreachable service`,
    ...once,
  },
  {
    id: `Throttles ${name}`,
    metric: one.metricThrottles(fiveMinutes),
    description: `${name} found no room in the concurrency of the account or in its own`,
    ...once,
  },
  {
    id: `AccessDenied ${name}`,
    metric: productMetric(stage, 'AccessDenied', name, Stats.SUM),
    description: `${name} was refused by IAM or by the policy of a key: its log says for which request`,
    // A denied request is sent again after half a minute. The longer window bridges minutes without such a request.
    periods: 1,
    of: 5,
    missing: TreatMissingData.NOT_BREACHING,
  },
];

/**
 * Verdicts come late then, and nothing else is lost: a throttle slows down who writes. Throttled reads have no alarm of
 * their own: what they delay has one.
 */
const tableRules = ({ table }: WatchedParts): readonly Rule[] => [
  {
    id: 'TableThrottles',
    metric: table.metric('WriteThrottleEvents', fiveMinutes),
    description: 'The table, one of its partitions or the account had no capacity left for writes',
    ...once,
  },
];

const deadLetterRules = ({ deadLetters }: WatchedParts): readonly Rule[] =>
  Object.entries(deadLetters).map(([name, queue]) => ({
    id: `DeadLetters ${name}`,
    metric: queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: Stats.MAXIMUM }),
    description: `What ${name} could not do waits in its dead-letter queue`,
    ...once,
  }));

const syncRules = ({ syncs }: WatchedParts): readonly Rule[] => [
  {
    id: 'StatusQueueOld',
    metric: syncs.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(1), statistic: Stats.MAXIMUM }),
    description: 'What wakes status-sync waits in its queue: the mapping is disabled, or it cannot follow',
    atLeast: oldSeconds,
    periods: 2,
    of: 3,
    missing: TreatMissingData.NOT_BREACHING,
  },
];

/** A status takes in the failure of a whole fleet within a minute. */
const oldSeconds = 60;

const proberRules = ({ stage }: WatchedParts): readonly Rule[] => [
  {
    id: 'ShardWithoutHolder',
    metric: productMetric(stage, 'ShardsWithoutHolder', 'schedule'),
    description:
      'Targets are not probed: their shard has had no holder for over a minute (four in tick mode), or the schedule does not run',
    periods: 3,
    of: 4,
    missing: TreatMissingData.BREACHING,
  },
  {
    id: 'ProberDegraded',
    metric: productMetric(stage, 'ShardsDegraded', 'prober'),
    description: 'A prober doubts its own network or clock, so it commits no failure',
    periods: 2,
    of: 3,
    missing: TreatMissingData.NOT_BREACHING,
  },
  {
    id: 'StatusBehind',
    metric: productMetric(stage, 'StatusBehind', 'prober'),
    description:
      'No status takes in what the probes find: the rule, the queue or the mapping of status-sync is disabled, or it cannot follow',
    periods: 2,
    of: 3,
    missing: TreatMissingData.NOT_BREACHING,
  },
  {
    id: 'MemoryShort',
    metric: productMetric(stage, 'MemoryShort', 'prober'),
    description: 'A prober takes more than 90 % of its memory; beyond it the process ends, and begins with as much',
    periods: 2,
    of: 3,
    missing: TreatMissingData.NOT_BREACHING,
  },
  {
    id: 'StaleTargets',
    metric: productMetric(stage, 'ProbesLate', 'prober'),
    description: 'Probes have not been done for too long; their results show as Unknown',
    periods: 3,
    of: 5,
    missing: TreatMissingData.NOT_BREACHING,
  },
];

/**
 * ECS publishes a sample a minute for each running task, without a charge. Source: "Amazon ECS service utilization",
 * service RUNNING task count.
 */
const taskRules = ({ tasks }: WatchedParts): readonly Rule[] =>
  tasks === undefined
    ? []
    : [
        {
          id: 'TasksMissing',
          metric: tasks.service.metricCpuUtilization({ period: Duration.minutes(1), statistic: Stats.SAMPLE_COUNT }),
          description: `Fewer than ${tasks.count} tasks run: Spot has no capacity, or tasks do not start`,
          below: tasks.count,
          // Spot replaces a task within two minutes or so.
          periods: 5,
          of: 5,
          missing: TreatMissingData.BREACHING,
        },
      ];
