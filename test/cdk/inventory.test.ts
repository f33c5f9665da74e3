/** Every part of the deployment by kind, with what makes it what it is. What is added has to be named here. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiRoutes } from '../../cdk/target-api.ts';
import { apiApp } from '../../shared/api/app.ts';
import { eventSchemas } from '../../shared/bus/events.ts';
import { askApi } from '../support/api-client.ts';
import { functionsOf, nameOf, resourcesOf, short, synthesized } from '../support/synthesized.ts';

const template = synthesized();
const named = (type: string) =>
  resourcesOf(template, type).map(({ id, Properties }) => ({ name: nameOf(id), ...Properties }));

test('these kinds of resources, so many of each', () => {
  const counts: { [type: string]: number } = {};
  for (const { Type } of Object.values(template.Resources)) counts[Type] = (counts[Type] ?? 0) + 1;
  assert.deepEqual(counts, {
    'AWS::DynamoDB::GlobalTable': 1,
    'AWS::Events::EventBus': 1,
    'AWS::Events::EventBusPolicy': 2,
    'AWS::Events::Rule': 2,
    'AWS::EventSchemas::Registry': 1,
    'AWS::EventSchemas::Schema': 13,
    'AWS::SQS::Queue': 4,
    'AWS::SQS::QueuePolicy': 4,
    'AWS::IAM::Role': 5,
    'AWS::IAM::Policy': 4,
    'AWS::Lambda::Function': 5,
    'AWS::Lambda::Version': 1,
    'Custom::Trigger': 1,
    'AWS::Lambda::Permission': 2,
    'AWS::Lambda::EventSourceMapping': 2,
    'AWS::Lambda::EventInvokeConfig': 1,
    'AWS::Logs::LogGroup': 6,
    'AWS::ApiGatewayV2::Api': 1,
    'AWS::ApiGatewayV2::Integration': 1,
    'AWS::ApiGatewayV2::Route': 17,
    'AWS::ApiGatewayV2::Stage': 1,
    'AWS::CloudWatch::Alarm': 21,
  });
});

describe('functions', () => {
  const functions = functionsOf(template).map(({ id, Properties }) => ({ name: nameOf(id), ...Properties }));

  test('run Node 24 on arm64, each with memory and time of its own', () => {
    const rows = functions.map(({ name, Runtime, Architectures, MemorySize, Timeout }) =>
      [name, Runtime, ...Architectures, MemorySize, Timeout].join(' '),
    );
    assert.deepEqual(rows, [
      'ProbeletProberFleetProberFunction nodejs24.x arm64 512 900',
      'ProbeletShardScheduleFunction nodejs24.x arm64 256 50',
      'ProbeletStatusSyncFunction nodejs24.x arm64 256 30',
      'ProbeletApiFunction nodejs24.x arm64 512 29',
    ]);
  });

  test('write JSON into log groups that end', () => {
    const names = ['ProberFleetProber', 'ShardSchedule', 'StatusSync', 'Api'];
    const rows = functions.map(({ LoggingConfig }) => `${LoggingConfig.LogFormat} ${short(LoggingConfig.LogGroup)}`);
    const expected = names.map((name) => `JSON {Probelet${name}Logs}`);
    assert.deepEqual(rows, expected);
    for (const { RetentionInDays } of named('AWS::Logs::LogGroup')) assert.equal(RetentionInDays, 30);
  });

  test('know what they read and nothing else', () => {
    const variables = functions.map(({ Environment }) =>
      Object.entries(Environment.Variables)
        .filter(([name]) => name !== 'PROBELET_RELEASE')
        .map(([name, value]) => `${name}=${short(value)}`)
        .toSorted(),
    );
    const common = ['PROBELET_TABLE={ProbeletTable}', 'PROBELET_BUS={ProbeletBus}', 'PROBELET_STAGE=ProbeletF12B7E4C'];
    const shards = 'PROBELET_SHARD_QUEUE_URL={ProbeletShards}';
    const limits = ['TARGETS_MAX=1000000', 'TARGETS_PER_NAMESPACE_MAX=1000000', 'PROBES_PER_SECOND_MAX=103731'];
    const quotas = limits.map((limit) => `PROBELET_${limit}`);
    const expected = [
      [...common, shards],
      [...common, shards, 'PROBELET_MODE=auto', 'PROBELET_CAPACITY_MB=512'],
      common,
      [...common, ...quotas],
    ];
    assert.deepEqual(
      variables,
      expected.map((names) => names.toSorted()),
    );
  });

  test('that run shards and that ask for runs are of one release', () => {
    const [prober, schedule, ...others] = functions.map(({ Environment }) => Environment.Variables.PROBELET_RELEASE);
    assert.match(prober, /^\d+\.\d+\.\d+-[0-9a-f]{12}$/);
    assert.equal(schedule, prober);
    assert.deepEqual(others, [undefined, undefined]);
  });

  test('reserve no concurrency', () => {
    for (const one of functions) assert.equal(one.ReservedConcurrentExecutions, undefined);
  });

  test('are ready to run before the schedule asks for their release', () => {
    const [schedule] = resourcesOf(template, 'AWS::Lambda::Function').filter(({ id }) => id.includes('ShardSchedule'));
    assert.ok(schedule?.DependsOn?.some((id) => nameOf(id) === 'ProbeletProberFleetProberFunction'));
  });
});

describe('queues', () => {
  test('keep and hide messages for so long (s), and redrive to', () => {
    const rows = named('AWS::SQS::Queue').map(
      ({ name, FifoQueue, VisibilityTimeout, MessageRetentionPeriod, RedrivePolicy }) => ({
        name,
        fifo: FifoQueue ?? false,
        visibility: VisibilityTimeout,
        retention: MessageRetentionPeriod,
        redrive: RedrivePolicy && `${short(RedrivePolicy.deadLetterTargetArn)} after ${RedrivePolicy.maxReceiveCount}`,
      }),
    );
    const dead = { fifo: false, visibility: undefined, retention: 1_209_600, redrive: undefined };
    const redrive = '{ProbeletStatusSyncDeadLetters.Arn} after 5';
    assert.deepEqual(rows, [
      { name: 'ProbeletShards', fifo: true, visibility: 960, retention: 3_600, redrive: undefined },
      { name: 'ProbeletShardScheduleDeadLetters', ...dead },
      { name: 'ProbeletStatusSyncDeadLetters', ...dead },
      { name: 'ProbeletStatusSyncQueue', fifo: false, visibility: 180, retention: undefined, redrive },
    ]);
  });

  test('are encrypted', () => {
    for (const { SqsManagedSseEnabled } of named('AWS::SQS::Queue')) assert.equal(SqsManagedSseEnabled, true);
  });

  test('wake functions, which answer for each message', () => {
    const rows = named('AWS::Lambda::EventSourceMapping').map(
      ({ EventSourceArn, FunctionName, BatchSize, FunctionResponseTypes, ScalingConfig }) => [
        `${short(EventSourceArn)} to ${short(FunctionName)}`,
        BatchSize,
        ...FunctionResponseTypes,
        ScalingConfig?.MaximumConcurrency,
      ],
    );
    assert.deepEqual(rows, [
      ['{ProbeletShards.Arn} to {ProbeletProberFleetProberFunction}', 1, 'ReportBatchItemFailures', undefined],
      ['{ProbeletStatusSyncQueue.Arn} to {ProbeletStatusSyncFunction}', 10, 'ReportBatchItemFailures', 5],
    ]);
  });
});

type RuleTarget = { readonly Arn: unknown; readonly RetryPolicy?: object; readonly DeadLetterConfig: { Arn: unknown } };

describe('rules', () => {
  const rows = named('AWS::Events::Rule').map(({ ScheduleExpression, EventPattern, EventBusName, Targets }) => ({
    on: ScheduleExpression ?? EventPattern,
    bus: EventBusName && short(EventBusName),
    to: Targets.map(({ Arn, RetryPolicy, DeadLetterConfig }: RuleTarget) => ({
      arn: short(Arn),
      retry: RetryPolicy,
      dead: short(DeadLetterConfig.Arn),
    })),
  }));

  test('each minute wakes the schedule, and is not tried again', () => {
    const retry = { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 };
    const dead = '{ProbeletShardScheduleDeadLetters.Arn}';
    const to = [{ arn: '{ProbeletShardScheduleFunction.Arn}', retry, dead }];
    assert.deepEqual(rows[0], { on: 'rate(1 minute)', bus: undefined, to });
    const [invocations] = named('AWS::Lambda::EventInvokeConfig');
    assert.equal(short(invocations.FunctionName), '{ProbeletShardScheduleFunction}');
    assert.partialDeepStrictEqual(invocations, retry);
    assert.equal(short(invocations.DestinationConfig.OnFailure.Destination), dead);
  });

  test('what changes a status wakes status-sync, by a queue', () => {
    const on = { source: ['probelet'], 'detail-type': ['Probe Result Changed', 'Target Sync Requested'] };
    const dead = '{ProbeletStatusSyncDeadLetters.Arn}';
    const to = [{ arn: '{ProbeletStatusSyncQueue.Arn}', retry: undefined, dead }];
    assert.deepEqual(rows[1], { on, bus: '{ProbeletBus}', to });
  });
});

describe('routes', () => {
  test('ask who calls, but for one', () => {
    const rows = named('AWS::ApiGatewayV2::Route').map(
      ({ RouteKey, AuthorizationType }) => `${AuthorizationType} ${RouteKey}`,
    );
    assert.deepEqual(rows, [
      'NONE GET /healthz',
      'AWS_IAM GET /openapi.json',
      'AWS_IAM GET /v1/prober',
      'AWS_IAM GET /v1/targets',
      'AWS_IAM PUT /v1/targets:apply',
      'AWS_IAM GET /v1/namespaces/{namespace}/targets',
      'AWS_IAM POST /v1/namespaces/{namespace}/targets',
      'AWS_IAM GET /v1/namespaces/{namespace}/targets/{name}',
      'AWS_IAM GET /v1/namespaces/{namespace}/targets/{name}/events',
      'AWS_IAM PUT /v1/namespaces/{namespace}/targets',
      'AWS_IAM PUT /v1/namespaces/{namespace}/targets/{name}',
      'AWS_IAM PATCH /v1/namespaces/{namespace}/targets/{name}',
      'AWS_IAM DELETE /v1/namespaces/{namespace}/targets/{name}',
      'AWS_IAM PUT /v1/namespaces/{namespace}/targets/{name}/status',
      'AWS_IAM POST /v1/namespaces/{namespace}/targets/{name}/restarted',
      'AWS_IAM POST /v1/namespaces/{namespace}/targets/{name}/probe',
      'AWS_IAM PUT /v1/namespaces/{namespace}/desired',
    ]);
  });

  test('are those that the app serves, without the stream and the metrics of one process', async () => {
    const deployed = apiRoutes.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(deployed.toSorted(), (await servedRoutes()).toSorted());
  });

  test('are throttled and logged', () => {
    const [stage] = named('AWS::ApiGatewayV2::Stage');
    assert.deepEqual(stage.DefaultRouteSettings, { ThrottlingBurstLimit: 100, ThrottlingRateLimit: 50 });
    assert.equal(short(stage.AccessLogSettings.DestinationArn), '{ProbeletApiAccessLogs.Arn}');
  });
});

async function servedRoutes(): Promise<readonly string[]> {
  type Document = { readonly paths: { readonly [path: string]: object } };
  const { body } = await askApi<Document>(apiApp({} as Parameters<typeof apiApp>[0]), 'GET', '/openapi.json');
  return Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== 'parameters')
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
}

describe('alarms', () => {
  const alarms = named('AWS::CloudWatch::Alarm');

  test('look at these metrics', () => {
    const rows = alarms.map(
      ({ Namespace, MetricName, Dimensions, DatapointsToAlarm, EvaluationPeriods, TreatMissingData }) =>
        [
          `${Namespace} ${MetricName}`,
          Dimensions.map(({ Value }: { readonly Value: unknown }) => short(Value)).join(' '),
          `${DatapointsToAlarm} of ${EvaluationPeriods}`,
          TreatMissingData,
        ].join(', '),
    );
    const once = '1 of 1, notBreaching';
    const services = { ShardSchedule: 'schedule', ProberFleetProber: 'prober', StatusSync: 'status-sync', Api: 'api' };
    const functions = Object.keys(services) as (keyof typeof services)[];
    assert.deepEqual(rows, [
      ...functions.flatMap((name) => [
        `AWS/Lambda Errors, {Probelet${name}Function}, ${once}`,
        `AWS/Lambda Throttles, {Probelet${name}Function}, ${once}`,
        `probelet AccessDenied, ${services[name]} ProbeletF12B7E4C, 1 of 5, notBreaching`,
      ]),
      `AWS/SQS ApproximateNumberOfMessagesVisible, {ProbeletShardScheduleDeadLetters.QueueName}, ${once}`,
      `AWS/SQS ApproximateNumberOfMessagesVisible, {ProbeletStatusSyncDeadLetters.QueueName}, ${once}`,
      'AWS/SQS ApproximateAgeOfOldestMessage, {ProbeletStatusSyncQueue.QueueName}, 2 of 3, notBreaching',
      'probelet ShardsWithoutHolder, schedule ProbeletF12B7E4C, 3 of 4, breaching',
      'probelet ShardsDegraded, prober ProbeletF12B7E4C, 2 of 3, notBreaching',
      'probelet StatusBehind, prober ProbeletF12B7E4C, 2 of 3, notBreaching',
      'probelet MemoryShort, prober ProbeletF12B7E4C, 2 of 3, notBreaching',
      'probelet ProbesLate, prober ProbeletF12B7E4C, 3 of 5, notBreaching',
      `AWS/DynamoDB WriteThrottleEvents, {ProbeletTable}, ${once}`,
    ]);
  });

  test('say what they mean', () => {
    for (const { AlarmDescription } of alarms) assert.match(AlarmDescription, /\w{3,}/);
  });
});

test('every event has a schema in the registry, of the draft that it knows', () => {
  const schemas = named('AWS::EventSchemas::Schema');
  const registered = schemas.map(({ SchemaName }) => SchemaName);
  const expected = Object.keys(eventSchemas).map((detailType) => `probelet@${detailType.replaceAll(' ', '')}`);
  assert.deepEqual(registered, expected);
  for (const { Type, Content } of schemas) {
    assert.equal(Type, 'JSONSchemaDraft4');
    const { $schema, properties } = JSON.parse(Content);
    assert.equal($schema, 'http://json-schema.org/draft-04/schema#');
    assert.ok(properties.detail.required.includes('schemaVersion'));
  }
});
