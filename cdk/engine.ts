/** The shard queue, the four functions with their triggers, and the prober's tasks if there are any; of one release. */
import { createHash } from 'node:crypto';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { FunctionName } from '../functions/bundling.ts';
import { productVersion } from '../functions/product-version.ts';
import { fleetLimits, withLimits } from '../shared/core/shards/quota.ts';
import { tasksOf } from '../shared/cost/fleet.ts';
import { syncConcurrencyOf } from '../shared/cost/sizes.ts';
import type { NodeFunction } from './node-function.ts';
import { adviceEnvironment, proberEnvironment } from './prober-environment.ts';
import { ProberFleet, ShardQueue } from './prober-fleet.ts';
import type { ProberTasks } from './prober-tasks.ts';
import type { ProbeletProps } from './props.ts';
import { startOnce } from './release-trigger.ts';
import { ShardSchedule } from './shard-schedule.ts';
import { StatusSync } from './status-sync.ts';
import { TargetApi } from './target-api.ts';
import { computeOf, layoutOf } from './validate-props.ts';

type Options = {
  readonly props: ProbeletProps & Required<Pick<ProbeletProps, 'mode' | 'memorySize'>>;
  readonly stage: string;
  readonly table: ITableV2;
  readonly bus: EventBus;
};

export type Engine = {
  readonly parts: { readonly [name in FunctionName]: NodeFunction };
  readonly tasks: ProberTasks | undefined;
  readonly api: TargetApi;
  readonly deadLetters: { readonly [of: string]: Queue };
  /** The queues of pending work. */
  readonly queues: { readonly shards: Queue; readonly 'status-sync': Queue };
};

export function engine(scope: Construct, { props, stage, table, bus }: Options): Engine {
  const { encryptionKey, logRetention = RetentionDays.ONE_MONTH, tracing = false, vpc } = props;
  const shards = new ShardQueue(scope, 'Shards', { encryptionKey }).queue;
  const common = {
    PROBELET_TABLE: table.tableName,
    PROBELET_BUS: bus.eventBusName,
    PROBELET_STAGE: stage,
    ...(props.detailedMetrics && { PROBELET_DETAILED_METRICS: '1' }),
  };
  const withVariables = (environment: Variables) => ({
    table,
    bus,
    settings: { encryptionKey, logRetention, tracing, environment },
  });
  /** For the two functions that use the shard queue. */
  const withShards = (more: Variables) => ({
    shards,
    ...withVariables({ ...common, PROBELET_SHARD_QUEUE_URL: shards.queueUrl, ...more }),
  });
  const { prober, tasks } = new ProberFleet(scope, 'ProberFleet', {
    ...props,
    ...withShards(proberEnvironment(scope, props)),
    tasks: computeOf(props) === 'fargate' ? tasksOf(layoutOf(props)) : undefined,
    network: vpc && { vpc, vpcSubnets: props.vpcSubnets, securityGroups: props.securityGroups },
  });
  const capacity = { PROBELET_MODE: props.mode, PROBELET_CAPACITY_MB: String(props.memorySize) };
  const { schedule, deadLetters: unscheduled } = new ShardSchedule(scope, 'ShardSchedule', withShards(capacity));
  const {
    statusSync,
    queue,
    deadLetters: unsynced,
  } = new StatusSync(scope, 'StatusSync', {
    ...withVariables(common),
    concurrency: props.statusSyncConcurrency ?? syncConcurrencyOf(props.fleet ?? []),
  });
  const api = new TargetApi(scope, 'Api', {
    ...withVariables({ ...common, ...quotaEnvironment(props), ...adviceEnvironment(props) }),
    authorizer: props.authorizer,
    reservedConcurrency: props.apiReservedConcurrency,
  });
  release(releaseOf({ prober, tasks }, props), { schedule, prober, tasks });
  startOnce(prober, { before: schedule, logRetention, encryptionKey });
  return {
    parts: { schedule, prober, 'status-sync': statusSync, api: api.handler },
    tasks,
    api,
    deadLetters: { schedule: unscheduled, 'status-sync': unsynced },
    queues: { shards, 'status-sync': queue },
  };
}

type Variables = { readonly [name: string]: string };

/**
 * The schedule asks for this release, so a prober that can run it must be deployed first, and have started once: if it
 * does not, CloudFormation puts the old code back, and no shard has been asked to move.
 */
function release(name: string, { schedule, prober, tasks }: Probers & { readonly schedule: NodeFunction }) {
  for (const one of [prober, schedule]) one.function.addEnvironment(releaseVariable, name);
  tasks?.container.addEnvironment(releaseVariable, name);
  schedule.function.node.addDependency(prober.function, ...(tasks ? [tasks.service] : []));
}

const releaseVariable = 'PROBELET_RELEASE';

type Probers = { readonly prober: NodeFunction; readonly tasks: ProberTasks | undefined };

/**
 * Tasks do not become more by themselves, so a registration beyond them is refused instead of being left without a
 * holder.
 */
function quotaEnvironment(props: Options['props']) {
  const { memorySize, targetsMax, targetsPerNamespaceMax, probesPerSecondMax } = props;
  const shards = computeOf(props) === 'fargate' ? layoutOf(props).shards.length : undefined;
  const limits = withLimits(fleetLimits(memorySize, shards), {
    ...(targetsMax !== undefined && { targetsMax }),
    ...(targetsPerNamespaceMax !== undefined && { targetsPerNamespaceMax }),
    ...(probesPerSecondMax !== undefined && { probesPerSecondMax }),
  });
  return {
    PROBELET_TARGETS_MAX: String(limits.targetsMax),
    PROBELET_TARGETS_PER_NAMESPACE_MAX: String(limits.targetsPerNamespaceMax),
    PROBELET_PROBES_PER_SECOND_MAX: String(limits.probesPerSecondMax),
  };
}

/**
 * The release changes with the prober's code and configuration, and with what holds the shards. All runs then hand over
 * to the new release.
 */
function releaseOf(
  { prober, tasks }: Probers,
  { allowCidrs, canaries, memorySize, execRunner, secrets, tlsSessionResumption = false }: ProbeletProps,
): string {
  const { functions = {}, instances } = execRunner ?? {};
  const code = [prober.codeHash, ...(tasks ? [tasks.imageHash] : [])];
  const parts = [
    code,
    allowCidrs,
    canaries,
    memorySize,
    Object.keys(functions),
    instances,
    secrets,
    tlsSessionResumption,
  ];
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${productVersion}-${hash.slice(0, releaseHashLength)}`;
}

const releaseHashLength = 12;
