/** Opens the services that several processes share, as the options specify. */
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { access } from '../../../shared/aws/access.ts';
import type { Bus } from '../../../shared/bus/bus.ts';
import { eventBridgeBus } from '../../../shared/bus/eventbridge.ts';
import { visibilityMs } from '../../../shared/holder/beat.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Log } from '../../../shared/lib/log.ts';
import type { Random } from '../../../shared/lib/random.ts';
import { type SqsQueue, sqsQueue } from '../../../shared/queue/sqs.ts';
import { sqsClient } from '../../../shared/queue/sqs-call.ts';
import { dynamodbClient } from '../../../shared/store/dynamodb/client.ts';
import { dynamodbStore } from '../../../shared/store/dynamodb/dynamodb.ts';
import { layoutKey } from '../../../shared/store/records/keys.ts';
import type { Store } from '../../../shared/store/store.ts';
import { patientStore } from '../../../shared/store/throttled.ts';
import type { AwsService } from '../options/option-values.ts';
import type { AwsOptions } from '../options/options.ts';

export type AwsServices = {
  readonly store: Store;
  /**
   * The same table through separate sockets, for a holder's heartbeats, claims and commits. A throttled call is not
   * repeated.
   */
  readonly fencedStore: Store;
  readonly queue: SqsQueue;
  /** Absent if no bus was named. */
  readonly bus?: Bus;
  /**
   * Returns an error in the options that the services can detect at the start, or undefined if there is none or a
   * service does not answer yet.
   */
  fault(): Promise<string | undefined>;
  close(): void;
};

type ServicePorts = { readonly clock: Clock; readonly random: Random; readonly log: Log };

/** The ports of a process that shares these services with others. */
export type ServedPorts = ServicePorts & {
  readonly services: Pick<AwsServices, 'store' | 'queue' | 'bus'> & Partial<Pick<AwsServices, 'fencedStore'>>;
};

export function awsServices(options: AwsOptions, ports: ServicePorts): AwsServices {
  const { table: tableName, queueUrl, bus: busName } = options;
  const config = (service: AwsService) => {
    const endpoint = options.endpoints[service];
    return { ...(options.region && { region: options.region }), ...(endpoint && { endpoint }) };
  };
  const dynamodb = [dynamodbClient(config('dynamodb')), dynamodbClient(config('dynamodb'))] as const;
  const sqs = sqsClient(config('sqs'));
  const eventBridge = new EventBridgeClient({ ...config('eventbridge'), maxAttempts: 1 });
  const given = { ...ports, access: access(ports) };
  const [shared, fencedStore] = dynamodb.map((client) => dynamodbStore({ ...given, client, tableName })) as [
    Store,
    Store,
  ];
  const store = patientStore(shared, ports);
  const look = { QueueUrl: queueUrl, AttributeNames: ['FifoQueue' as const] };
  return {
    store,
    fencedStore,
    // The queue's default visibility may be a function's time-out. A process that crashes early would then lock its
    // shard for just as long.
    queue: sqsQueue({ ...given, client: sqs, queueUrl, visibilityMs }),
    ...(busName !== undefined && { bus: eventBridgeBus({ ...given, client: eventBridge, busName }) }),
    fault: async () =>
      (await regionFault(sqs.config.region)) ??
      (await faultOf(() => store.get(layoutKey), `--table: there is no table ${tableName}`)) ??
      (await faultOf(
        () => sqs.send(new GetQueueAttributesCommand(look)),
        `--queue-url: there is no queue ${queueUrl}`,
      )),
    close() {
      for (const client of [...dynamodb, sqs, eventBridge]) client.destroy();
    },
  };
}

async function regionFault(region: () => Promise<string>): Promise<string | undefined> {
  try {
    await region();
    return undefined;
  } catch {
    return '--region: is needed, as neither the environment nor a profile names one';
  }
}

const missingNames: ReadonlySet<string> = new Set([
  'ResourceNotFoundException',
  'QueueDoesNotExist',
  'AWS.SimpleQueueService.NonExistentQueue',
]);

/** Other errors may be temporary; the process keeps retrying. */
async function faultOf(look: () => Promise<unknown>, missing: string): Promise<string | undefined> {
  try {
    await look();
    return undefined;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const name = cause instanceof Error ? cause.name : '';
    if (name === 'CredentialsProviderError') return 'no AWS credentials: set AWS_PROFILE, or the AWS_ variables';
    return missingNames.has(name) ? missing : undefined;
  }
}
