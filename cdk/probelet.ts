/** The product as a construct. Everything is a prop; nothing is read from context or environment. */
import { createHash } from 'node:crypto';
import { Annotations, Names, Stack } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { type EventBus, type IRuleTarget, Rule } from 'aws-cdk-lib/aws-events';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { FunctionName } from '../functions/bundling.ts';
import { emulatorStage } from '../functions/lambda/environment.ts';
import { type DetailType, eventSource } from '../shared/bus/events.ts';
import { Alarms } from './alarms.ts';
import { dashboard } from './dashboard.ts';
import { warnOfCost } from './estimate.ts';
import { TargetBus } from './event-bus.ts';
import { execEnvironment } from './exec-runner.ts';
import { allowServices } from './key-policy.ts';
import { type FunctionSettings, type NodeFunction, productVersion } from './node-function.ts';
import { ProberFleet, ShardQueue } from './prober-fleet.ts';
import type { ProbeletProps } from './props.ts';
import { ShardSchedule } from './shard-schedule.ts';
import { StatusSync } from './status-sync.ts';
import { TargetTable } from './table.ts';
import { TargetApi } from './target-api.ts';
import { memorySizeDefault, modeDefault, requireValidProps } from './validate-props.ts';

export type UpdateRule = {
  readonly detailType: DetailType | readonly DetailType[];
  /** Of the event's detail, in EventBridge's pattern language. Default: all. */
  readonly pattern?: { readonly [field: string]: unknown };
  /** What is called. Give it a dead-letter queue: after a day the bus gives up. */
  readonly target: IRuleTarget;
};

export class Probelet extends Construct {
  readonly table: TableV2;
  readonly bus: EventBus;
  readonly api: HttpApi;
  readonly apiUrl: string;
  readonly functions: { readonly [name in FunctionName]: LambdaFunction };
  readonly #api: TargetApi;

  constructor(scope: Construct, id: string, props: ProbeletProps = {}) {
    super(scope, id);
    requireValidProps(props, Stack.of(this));
    const { encryptionKey, logRetention = RetentionDays.ONE_MONTH, tracing = false, authorizer } = props;
    const { mode = modeDefault, memorySize = memorySizeDefault } = props;
    const stage = props.stage ?? Names.uniqueResourceName(this, { maxLength: stageLengthMax });
    allowServices(this, encryptionKey);
    this.table = new TargetTable(this, 'Table', props).table;
    const eventBus = new TargetBus(this, 'Bus', { encryptionKey });
    this.bus = eventBus.bus;
    const shards = new ShardQueue(this, 'Shards', { encryptionKey }).queue;

    const environment = {
      PROBELET_TABLE: this.table.tableName,
      PROBELET_BUS: this.bus.eventBusName,
      PROBELET_SHARD_QUEUE_URL: shards.queueUrl,
      PROBELET_MODE: mode,
      PROBELET_CAPACITY_MB: String(memorySize),
      PROBELET_STAGE: stage,
      ...dialEnvironment(props),
      ...execEnvironment(this, props.execRunner),
    };
    const settings: FunctionSettings = { environment, encryptionKey, logRetention, tracing };
    const shared = { settings, table: this.table, bus: this.bus };
    const { prober } = new ProberFleet(this, 'ProberFleet', {
      ...shared,
      ...props,
      shards,
      memorySize,
      network: props.vpc && { vpc: props.vpc, vpcSubnets: props.vpcSubnets, securityGroups: props.securityGroups },
    });
    const schedule = new ShardSchedule(this, 'ShardSchedule', { ...shared, shards });
    const statusSync = new StatusSync(this, 'StatusSync', shared);
    this.#api = new TargetApi(this, 'Api', { ...shared, authorizer });
    this.api = this.#api.api;
    this.apiUrl = this.#api.url;

    const made = { schedule: schedule.schedule, prober, 'status-sync': statusSync.statusSync, api: this.#api.handler };
    const release = releaseOf(prober, props);
    for (const one of Object.values(made)) one.function.addEnvironment('PROBELET_RELEASE', release);
    // The schedule asks for its own release, so what can run it has to be there first.
    schedule.schedule.function.node.addDependency(prober.function);
    this.functions = functionsOf(made);

    // The emulator knows neither of both.
    if (stage !== emulatorStage) {
      const [, ...others] = [prober, made.schedule, made['status-sync'], made.api].map(({ role }) => role);
      eventBus.guard({ prober: prober.role, others });
      eventBus.describeEvents();
    }

    const deadLetters = { schedule: schedule.deadLetters, 'status-sync': statusSync.deadLetters };
    const watched = { stage, functions: this.functions, deadLetters };
    const { alarms } = new Alarms(this, 'Alarms', watched, props.alarmTopic);
    const queues = [shards, statusSync.queue, schedule.deadLetters, statusSync.deadLetters];
    dashboard(this, 'Dashboard', { ...watched, alarms, queues });
    warnOfCost(Annotations.of(this), { ...props, mode, memorySize, alarms: alarms.length });
  }

  /** May register, report, trigger and remove targets through the API, and read them. With IAM as authorizer only. */
  grantRegister(grantee: IGrantable): void {
    this.#api.grantRegister(grantee);
  }

  /** May read targets and their status through the API. With IAM as authorizer only. */
  grantReadStatus(grantee: IGrantable): void {
    this.#api.grantReadStatus(grantee);
  }

  /** Calls the target with each event of this kind. At least once, in any order. */
  onUpdate(id: string, { detailType, pattern, target }: UpdateRule): Rule {
    return new Rule(this, id, {
      eventBus: this.bus,
      eventPattern: {
        source: [eventSource],
        detailType: typeof detailType === 'string' ? [detailType] : [...detailType],
        ...(pattern && { detail: pattern }),
      },
      targets: [target],
    });
  }
}

/** Of a dimension, as the functions take it. */
const stageLengthMax = 64;

/** What may be dialed, and what shows that the prober's own network is all right. */
function dialEnvironment({ allowCidrs, allowLoopback, canaries }: ProbeletProps): { readonly [name: string]: string } {
  return {
    ...(allowCidrs && { PROBELET_ALLOW_CIDRS: allowCidrs.join(',') }),
    ...(allowLoopback && { PROBELET_ALLOW_LOOPBACK: '1' }),
    ...(canaries && { PROBELET_CANARIES: canaries.join(',') }),
  };
}

/** Changes with what a run does: its code, and what it may dial and use. A new one makes all runs hand over. */
function releaseOf(
  { codeHash }: NodeFunction,
  { allowCidrs, canaries, memorySize, execRunner }: ProbeletProps,
): string {
  const { functions = {}, instances } = execRunner ?? {};
  const parts = [codeHash, allowCidrs, canaries, memorySize, Object.keys(functions), instances];
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${productVersion}-${hash.slice(0, releaseHashLength)}`;
}

const releaseHashLength = 12;

const functionsOf = (made: { readonly [name in FunctionName]: NodeFunction }) => ({
  schedule: made.schedule.function,
  prober: made.prober.function,
  'status-sync': made['status-sync'].function,
  api: made.api.function,
});
