/**
 * A deployment on an emulator of AWS: table, bus, queues and rule, and the environment that a stack would give its
 * functions.
 */
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import {
  CreateEventBusCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
} from '@aws-sdk/client-eventbridge';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { awsCall, awsJson } from '../../shared/aws/aws-call.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { dynamodbClient } from '../../shared/store/dynamodb/client.ts';
import { dynamodbStore } from '../../shared/store/dynamodb/dynamodb.ts';
import { tableDefinition } from '../support/dynamodb-table.ts';
import { createQueue, type Ministack, ministackSqs, startMinistack } from '../support/ministack.ts';
import { createExecFunction } from './exec-function.ts';
import { recordOf } from './invocation.ts';

export type Deployment = Awaited<ReturnType<typeof deployed>>;

/** A parameter that probes may send. */
export const secretName = '/probelet/token';

/** An emulator that has just started takes its time. */
const setUpMs = 30_000;

type SqsEvent = { readonly Records: readonly ReturnType<typeof recordOf>[] };
type Served = { readonly batchItemFailures: readonly { readonly itemIdentifier: string }[] };

const names = { table: 'targets', bus: 'probes' };

/**
 * Sets the variables of this process: a handler reads them when it is imported, which has to be after this.
 * `capacityMb`: of the prober function.
 */
export async function deployed({ capacityMb = 256 } = {}) {
  const ministack: Ministack = await startMinistack();
  const keys = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local', AWS_REGION: 'us-east-1' };
  Object.assign(process.env, keys, { AWS_ENDPOINT_URL: ministack.endpoint });
  const dynamodb = dynamodbClient({ requestTimeoutMs: setUpMs });
  const [sqs, events] = [ministackSqs(ministack.endpoint), new EventBridgeClient({})];
  await dynamodb.send(new CreateTableCommand({ ...tableDefinition, TableName: names.table }));
  const shardQueueUrl = await createQueue(sqs, 'shards');
  const { QueueUrl: syncQueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'status-sync' }));
  await events.send(new CreateEventBusCommand({ Name: names.bus }));
  await ruleTo(syncQueueUrl);
  const call = awsCall({ client: sqs, clock: systemClock, endpointOf: () => ministack.endpoint });
  const input = { Name: secretName, Value: 'Bearer token', Type: 'SecureString' };
  await awsJson(call, { service: 'ssm', target: 'AmazonSSM.PutParameter', input }, performance.now() + 10_000);
  Object.assign(process.env, {
    PROBELET_EXEC_FUNCTIONS: JSON.stringify({ default: await createExecFunction(call) }),
    PROBELET_EXEC_NAMES: 'default',
    PROBELET_TABLE: names.table,
    PROBELET_BUS: names.bus,
    PROBELET_SHARD_QUEUE_URL: shardQueueUrl,
    PROBELET_RELEASE: 'r1',
    PROBELET_MODE: 'auto',
    PROBELET_CAPACITY_MB: `${capacityMb}`,
    PROBELET_STAGE: 'emulator',
    PROBELET_ALLOW_LOOPBACK: '1',
    PROBELET_SECRETS: `ssm:${secretName} 127.0.0.1,secretsmanager:probelet/password 127.0.0.1`,
  });

  async function ruleTo(queueUrl: string): Promise<void> {
    const asked = { QueueUrl: queueUrl, AttributeNames: ['QueueArn' as const] };
    const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand(asked));
    const pattern = { source: ['probelet'], 'detail-type': ['Probe Result Changed', 'Target Sync Requested'] };
    const rule = { Name: 'to-status-sync', EventBusName: names.bus };
    await events.send(new PutRuleCommand({ ...rule, EventPattern: JSON.stringify(pattern) }));
    const target = { Id: 'queue', Arn: Attributes.QueueArn };
    await events.send(new PutTargetsCommand({ Rule: rule.Name, EventBusName: names.bus, Targets: [target] }));
  }

  /** What a mapping does: it receives, and puts what it got into an event. */
  async function received(queueUrl: string, visibilitySeconds: number) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: queueUrl === shardQueueUrl ? 1 : 10,
        VisibilityTimeout: visibilitySeconds,
        WaitTimeSeconds: 1,
        MessageSystemAttributeNames: ['All'],
      }),
    );
    return { Records: Messages.map(recordOf) };
  }

  /** What a mapping does with the answer of its function: it deletes all messages but those that have failed. */
  const servedOf =
    (QueueUrl: string) =>
    async ({ Records }: SqsEvent, answer: unknown): Promise<void> => {
      const { batchItemFailures: failures } = answer as Served;
      const failed = new Set(failures.map(({ itemIdentifier }) => itemIdentifier));
      const done = Records.filter(({ messageId }) => !failed.has(messageId));
      const Entries = done.map(({ messageId, receiptHandle }) => ({ Id: messageId, ReceiptHandle: receiptHandle }));
      if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    };

  return {
    ministack,
    sqs,
    shardQueueUrl,
    store: dynamodbStore({ client: dynamodb, tableName: names.table, clock: systemClock, random: systemRandom }),
    shardEvent: (visibilitySeconds = 60) => received(shardQueueUrl, visibilitySeconds),
    syncEvent: () => received(syncQueueUrl, 60),
    shardServed: servedOf(shardQueueUrl),
    syncServed: servedOf(syncQueueUrl),
    async stop() {
      sqs.destroy();
      await ministack.stop();
    },
  };
}
