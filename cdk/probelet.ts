/** probelet as a construct. All settings are props; nothing is read from context or environment. */
import { Annotations, CfnOutput, Names, Stack } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { FargateService } from 'aws-cdk-lib/aws-ecs';
import { type EventBus, type IRuleTarget, Rule } from 'aws-cdk-lib/aws-events';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { FunctionName } from '../functions/bundling.ts';
import { emulatorStage } from '../functions/lambda/environment.ts';
import { type DetailType, eventSchemas, eventSource } from '../shared/bus/events.ts';
import { nearest } from '../shared/lib/nearest.ts';
import { Alarms } from './alarms.ts';
import { Alert, type AlertProps } from './alert.ts';
import { dashboard } from './dashboard.ts';
import { engine } from './engine.ts';
import { warnOfCost } from './estimate.ts';
import { TargetBus } from './event-bus.ts';
import { allowServices } from './key-policy.ts';
import type { NodeFunction } from './node-function.ts';
import type { ProbeletProps } from './props.ts';
import { TargetTable } from './table.ts';
import type { TargetApi } from './target-api.ts';
import { computeOf, memorySizeOf, modeDefault, requireValidProps } from './validate-props.ts';

export type UpdateRule = {
  readonly detailType: DetailType | readonly DetailType[];
  /** Matches the event's detail, in EventBridge's pattern language. Defaults to all events. */
  readonly pattern?: { readonly [field: string]: unknown };
  /** The rule's target. Give it a dead-letter queue, because the bus gives up after a day. */
  readonly target: IRuleTarget;
};

export class Probelet extends Construct {
  readonly table: ITableV2;
  readonly bus: EventBus;
  readonly api: HttpApi;
  readonly apiUrl: string;
  readonly functions: { readonly [name in FunctionName]: LambdaFunction };
  /** The prober's tasks, if they hold the shards. */
  readonly service: FargateService | undefined;
  readonly #api: TargetApi;

  constructor(scope: Construct, id: string, props: ProbeletProps = {}) {
    super(scope, id);
    requireValidProps(props, Stack.of(this));
    const { encryptionKey, mode = modeDefault, detailedMetrics = false } = props;
    const memorySize = memorySizeOf(props);
    const resolved = { ...props, compute: computeOf(props) };
    const stage = props.stage ?? Names.uniqueResourceName(this, { maxLength: stageLengthMax });
    allowServices(this, encryptionKey);
    this.table = new TargetTable(this, 'Table', props).table;
    const eventBus = new TargetBus(this, 'Bus', { encryptionKey });
    this.bus = eventBus.bus;
    const { parts, tasks, api, ...made } = engine(this, {
      props: { ...resolved, mode, memorySize },
      stage,
      table: this.table,
      bus: this.bus,
    });
    this.#api = api;
    this.api = api.api;
    this.apiUrl = api.url;
    this.functions = functionsOf(parts);
    this.service = tasks?.service;
    const annotations = Annotations.of(this);
    if (stage === emulatorStage)
      annotations.addWarningV2(
        'probelet:emulator',
        'stage: emulator is for an emulator only; anywhere else the bus would lack its policy and its schemas',
      );
    else {
      const { prober, ...others } = parts;
      eventBus.guard({
        probers: [prober.role, ...(tasks ? [tasks.role] : [])],
        others: Object.values(others).map(({ role }) => role),
      });
      if (props.schemaRegistry !== false) eventBus.describeEvents();
    }
    const { deadLetters: bus } = eventBus;
    const deadLetters = { ...made.deadLetters, ...(bus && { bus }) };
    const queues = [...Object.values(made.queues), ...Object.values(deadLetters)];
    const watched = {
      stage,
      functions: this.functions,
      deadLetters,
      tasks,
      table: this.table,
      syncs: made.queues['status-sync'],
    };
    const { alarms } = new Alarms(this, 'Alarms', watched, props.alarmTopic);
    if (props.dashboard) dashboard(this, 'Dashboard', { ...watched, alarms, queues, detailedMetrics });
    const estimate = warnOfCost(annotations, { ...resolved, mode, memorySize, alarms: alarms.length });
    // No warning, beside which the CDK would not show the estimate.
    if (!props.alarmTopic && stage !== emulatorStage) annotations.addInfoV2('probelet:alarmTopic', withoutTopic);
    this.#addOutputs(estimate);
  }

  /** `probelet context add --stack` finds the address by `ApiUrl`. */
  #addOutputs(estimate: string): void {
    const outputs = {
      ApiUrl: { value: this.apiUrl, description: 'Where targets are registered' },
      BusName: { value: this.bus.eventBusName, description: 'Bus on which changes are published' },
      TableName: { value: this.table.tableName, description: 'What is kept' },
      Estimate: { value: estimate, description: 'What the fleet of the props costs a month' },
    };
    for (const [id, output] of Object.entries(outputs)) new CfnOutput(this, id, output);
  }

  /**
   * Lets `grantee` register, report, trigger, remove and read targets through the API. Requires IAM as authorizer.
   * Throws RangeError for a principal of another account: see {@link grantReadStatus}.
   */
  grantRegister(grantee: IGrantable): void {
    this.#api.grantRegister(grantee);
  }

  /**
   * Lets `grantee` read targets and their status through the API. Requires IAM as authorizer. Throws RangeError for a
   * principal that takes no policy, such as one of another account: an HTTP API has no policy of its own that could
   * name it, so let it assume a role of this account, and grant that role.
   */
  grantReadStatus(grantee: IGrantable): void {
    this.#api.grantReadStatus(grantee);
  }

  /**
   * Calls the target for each matching event, at least once and in any order. Throws RangeError for a type that no
   * event has.
   */
  onUpdate(id: string, { detailType, pattern, target }: UpdateRule): Rule {
    const detailTypes = typeof detailType === 'string' ? [detailType] : [...detailType];
    requireDetailTypes(detailTypes);
    return new Rule(this, id, {
      eventBus: this.bus,
      eventPattern: {
        source: [eventSource],
        detailType: detailTypes,
        ...(pattern && { detail: pattern }),
      },
      targets: [target],
    });
  }

  /**
   * Sends an SNS message when a target turns not ready, should be restarted or can no longer be judged, and one when
   * that has ended; at least once and in any order. `id` appears in each message. Throws RangeError for wrong props.
   */
  alert(id: string, props: AlertProps): Alert {
    return new Alert(this, id, { ...props, bus: this.bus });
  }
}

const withoutTopic =
  'alarmTopic: is missing, so alarms are seen in the console alone; give a topic that has a subscriber';

/** @throws RangeError naming the first that no event has; a rule for it would never match */
function requireDetailTypes(given: readonly string[]): void {
  const known = Object.keys(eventSchemas);
  const unknown = given.find((each) => !known.includes(each));
  if (unknown === undefined && given.length > 0) return;
  const meant = unknown === undefined ? undefined : nearest(unknown, known);
  const what = unknown === undefined ? 'is empty' : `there is no event ${unknown}`;
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  throw new RangeError(`detailType: ${what}${hint}; allowed: ${known.join(', ')}`);
}

/** The functions' limit for the metric dimension. */
const stageLengthMax = 64;

const functionsOf = (made: { readonly [name in FunctionName]: NodeFunction }) => ({
  schedule: made.schedule.function,
  prober: made.prober.function,
  'status-sync': made['status-sync'].function,
  api: made.api.function,
});
