/** The rule, queue and function that compute a target's status after a hint on the bus. */
import { Duration } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { type EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { mappingActions, tableActions } from '../functions/rights.ts';
import { type DetailType, eventSource } from '../shared/bus/events.ts';
import { deadLetterQueue, encryptionOf } from './dead-letters.ts';
import { type FunctionSettings, NodeFunction } from './node-function.ts';
import { allow, publishOn, useKey } from './statement.ts';

const memorySize = 256;
const timeout = Duration.seconds(30);
/** AWS recommends six function time-outs for mappings. */
const visibility = Duration.seconds(180);
const receivesMax = 5;
const batchSize = 10;
/** Events that may change a status. */
const wakeners: readonly DetailType[] = ['Probe Result Changed', 'Target Sync Requested'];

type Props = {
  readonly settings: FunctionSettings;
  readonly table: ITableV2;
  readonly bus: EventBus;
  /** Invocations at the same time. */
  readonly concurrency: number;
};

export class StatusSync extends Construct {
  readonly statusSync: NodeFunction;
  readonly queue: Queue;
  readonly rule: Rule;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { settings, table, bus, concurrency }: Props) {
    super(scope, id);
    const { encryptionKey } = settings;
    this.deadLetters = deadLetterQueue(this, encryptionKey);
    this.queue = new Queue(this, 'Queue', {
      visibilityTimeout: visibility,
      enforceSSL: true,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: receivesMax },
      ...encryptionOf(encryptionKey),
    });
    this.rule = new Rule(this, 'Wakeners', {
      description: 'What changes the status of a target',
      eventBus: bus,
      eventPattern: { source: [eventSource], detailType: [...wakeners] },
      targets: [new SqsQueue(this.queue, { deadLetterQueue: this.deadLetters })],
    });
    this.statusSync = new NodeFunction(this, 'StatusSync', {
      ...settings,
      name: 'status-sync',
      description: 'Computes the whole status of a target from what is stored, and publishes what changed',
      memorySize,
      timeout,
    });
    this.statusSync.allow(
      allow('Hints', mappingActions, [this.queue.queueArn]),
      allow('Table', tableActions['status-sync'], [table.tableArn]),
      publishOn(bus),
      ...useKey(encryptionKey),
    );
    new EventSourceMapping(this, 'Mapping', {
      target: this.statusSync.function,
      eventSourceArn: this.queue.queueArn,
      batchSize,
      reportBatchItemFailures: true,
      maxConcurrency: concurrency,
    });
  }
}
