/** The shard queue, and the prober as a function or as tasks: one message is one shard for one slot. */
import { Duration, Validations } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { mappingActions, receiveActions, shardActions, tableActions } from '../functions/rights.ts';
import { encryptionOf } from './dead-letters.ts';
import { grantExec } from './exec-runner.ts';
import { type FunctionNetwork, type FunctionSettings, NodeFunction } from './node-function.ts';
import { ProberTasks } from './prober-tasks.ts';
import type { ExecRunner, ProbeletProps } from './props.ts';
import { secretStatements } from './secrets.ts';
import { allow, publishOn, useKey } from './statement.ts';

/** Lambda's maximum. Covers a slot with its start and end. */
const timeout = Duration.minutes(15);
/** A mapping requires at least the function's time-out. A run first sets a much shorter one. */
const visibility = Duration.minutes(16);
const retention = Duration.hours(1);

/** The shard queue, created before the functions that refer to it in their environment. */
export class ShardQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { encryptionKey }: Pick<FunctionSettings, 'encryptionKey'>) {
    super(scope, id);
    this.queue = new Queue(this, 'Resource', {
      fifo: true,
      visibilityTimeout: visibility,
      retentionPeriod: retention,
      enforceSSL: true,
      ...encryptionOf(encryptionKey),
    });
    Validations.of(this.queue).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason:
        'A failed receipt is how a run hands its shard over, so nothing here is a dead letter; malformed messages are logged and dropped, and the next minute sends what is missing.',
    });
  }
}

type Props = {
  readonly settings: FunctionSettings;
  readonly table: ITableV2;
  readonly bus: EventBus;
  readonly shards: Queue;
  readonly memorySize: number;
  readonly network?: FunctionNetwork | undefined;
  readonly execRunner?: ExecRunner | undefined;
  readonly secrets?: ProbeletProps['secrets'];
  readonly reservedConcurrency?: number | undefined;
  readonly maxConcurrency?: number | undefined;
  /** Undefined: the function holds the shards. */
  readonly tasks: number | undefined;
};

export class ProberFleet extends Construct {
  readonly prober: NodeFunction;
  readonly tasks: ProberTasks | undefined;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const { settings, shards, memorySize, network, execRunner, reservedConcurrency, maxConcurrency } = props;
    this.prober = new NodeFunction(this, 'Prober', {
      ...settings,
      name: 'prober',
      description: 'Holds one shard for one slot: probes its targets and commits what changes',
      memorySize,
      timeout,
      network,
      reservedConcurrency,
    });
    this.prober.allow(
      allow('Shards', [...new Set([...shardActions.prober, ...mappingActions])], [shards.queueArn]),
      ...this.#statements(props),
    );
    grantExec(this, this.prober.role, execRunner);
    this.tasks = props.tasks === undefined ? undefined : this.#tasks({ ...props, tasks: props.tasks });
    const mapping = new EventSourceMapping(this, 'Mapping', {
      target: this.prober.function,
      eventSourceArn: shards.queueArn,
      batchSize: 1,
      reportBatchItemFailures: true,
      // Always stated: CloudFormation leaves a mapping off whose template no longer says so.
      enabled: this.tasks === undefined,
      ...(maxConcurrency !== undefined && { maxConcurrency }),
    });
    // The function receives messages until the tasks have started.
    if (this.tasks) mapping.node.addDependency(this.tasks.service);
  }

  #tasks({ settings, shards, network, execRunner, ...props }: Props & { readonly tasks: number }): ProberTasks {
    const tasks = new ProberTasks(this, 'Tasks', { settings, network, count: props.tasks });
    const statements = [
      allow('Shards', [...shardActions.prober, ...receiveActions], [shards.queueArn]),
      ...this.#statements({ settings, ...props }),
    ];
    for (const statement of statements) tasks.role.addToPolicy(statement);
    grantExec(tasks, tasks.role, execRunner);
    return tasks;
  }

  /** What the prober may do, wherever it runs. */
  #statements({ settings, table, bus, secrets }: Pick<Props, 'settings' | 'table' | 'bus' | 'secrets'>) {
    return [
      allow('Table', tableActions.prober, [table.tableArn]),
      publishOn(bus),
      ...useKey(settings.encryptionKey),
      ...secretStatements(this, secrets),
    ];
  }
}
