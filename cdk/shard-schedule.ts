/** Runs the schedule every minute. A late, repeated or missing run does no harm, so nothing is retried. */
import { Duration, Validations } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { type EventBus, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { EventInvokeConfig } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { shardActions, tableActions } from '../functions/rights.ts';
import { deadLetterQueue } from './dead-letters.ts';
import { type FunctionSettings, NodeFunction } from './node-function.ts';
import { allow, publishOn, useKey } from './statement.ts';

const memorySize = 256;
/** Below a minute, because the next run comes anyway. */
const timeout = Duration.seconds(50);
const eventAgeMax = Duration.seconds(60);

type Props = {
  readonly settings: FunctionSettings;
  readonly table: ITableV2;
  readonly bus: EventBus;
  readonly shards: Queue;
};

export class ShardSchedule extends Construct {
  readonly schedule: NodeFunction;
  readonly rule: Rule;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { settings, table, bus, shards }: Props) {
    super(scope, id);
    const { encryptionKey } = settings;
    this.deadLetters = deadLetterQueue(this, encryptionKey);
    Validations.of(this.deadLetters).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason:
        'It is the dead-letter queue of the rule and of the asynchronous invocations, neither of which is a queue.',
    });
    this.schedule = new NodeFunction(this, 'Schedule', {
      ...settings,
      name: 'schedule',
      description: 'Lays out the shards, sends their slots, finds those without a holder',
      memorySize,
      timeout,
    });
    this.schedule.allow(
      allow('Table', tableActions.schedule, [table.tableArn]),
      allow('Shards', shardActions.schedule, [shards.queueArn]),
      publishOn(bus),
      allow('DeadLetters', ['sqs:SendMessage'], [this.deadLetters.queueArn]),
      ...useKey(encryptionKey),
    );
    new EventInvokeConfig(this, 'Invocations', {
      function: this.schedule.function,
      retryAttempts: 0,
      maxEventAge: eventAgeMax,
      onFailure: { bind: () => ({ destination: this.deadLetters.queueArn }) },
    });
    this.rule = new Rule(this, 'EachMinute', {
      description: 'Wakes the schedule of the shards',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [
        new LambdaFunction(this.schedule.function, {
          retryAttempts: 0,
          maxEventAge: eventAgeMax,
          deadLetterQueue: this.deadLetters,
        }),
      ],
    });
  }
}
