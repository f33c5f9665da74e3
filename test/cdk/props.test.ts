/** What each prop changes, and what is said of wrong ones. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { HttpNoneAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import type { UpdateRule } from '../../cdk/probelet.ts';
import type { ProbeletProps } from '../../cdk/props.ts';
import { readEnvironment } from '../../functions/lambda/environment.ts';
import { metricsOf } from '../../functions/lambda/metrics.ts';
import { openRoutes } from '../support/statements.ts';
import {
  constructed,
  functionsOf,
  inSomeVpc,
  type NamedResource,
  nameOf,
  resourcesOf,
  short,
  synthesized,
  templateOf,
} from '../support/synthesized.ts';

/** What synth says of these props; props from a context are as unknown as these. */
function refusal(props: object): string {
  try {
    constructed(props);
  } catch (error) {
    assert.ok(error instanceof RangeError, String(error));
    return error.message.replace(/^wrong props of Probelet\n {2}/, '');
  }
  return 'nothing';
}

describe('a wrong prop is refused by its name and with what is allowed', () => {
  const fleetOf = (targets: number) => [{ targets, periodSeconds: 10, probe: 'https' }];
  const memorySizes = 'a whole number from 128 to 10240';
  const ranges = 'ranges like 10.0.0.0/8';
  const mixed = ['fc00::/7', '10/8', '::ffff:172.16.0.0/108'];
  const references =
    "1 to 50 references like ssm:/probelet/token or secretsmanager:probelet/token, each with 1 to 50 hosts that it may be sent to: {'ssm:/probelet/token': ['shop.test', '*.shop.test:443', '10.0.0.1']}";
  const runners =
    '{functions: {name: function}, instances: {tagKey, tagValue}}, at least one of both; names of 1 to 64 letters, digits, - and _';
  const fleets =
    'a list of {targets, periodSeconds: 1 to 3600, probe: http, https, tcp, grpc or exec, probesPerTarget, reach: internet, region, vpc or nat}';
  const hosts = ['shop.test', [], ['https://shop.test'], ['shop.test,evil.test'], ['shop.test evil.test'], ['*']];
  const wrongSecrets = [
    ...[['ssm:/probelet/token'], { 'ssm:/shop/token': ['shop.test'] }, { 'env:TOKEN': ['shop.test'] }, {}],
    ...hosts.map((each) => ({ 'ssm:/probelet/token': each })),
  ];
  const wrongCanaries = ['example.com', 'h:0', 'h:99999', '[1:2]:443', 'a,b:443', 'a b:443'];
  const wrongRemovals = ['keep', RemovalPolicy.SNAPSHOT, RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE];

  /** Each is refused with `prop: is VALUE; allowed: …`. */
  const values: readonly (readonly [prop: string, value: unknown, allowed: string])[] = [
    ['memorySize', 64, memorySizes],
    ['memorySize', 256.5, memorySizes],
    ['memorySize', '256', memorySizes],
    ['mode', 'loop', 'auto, resident or tick'],
    ['compute', 'ec2', 'lambda, fargate or auto'],
    ['stage', 'a b', '1 to 64 letters, digits, dots, dashes or underscores'],
    ['allowCidrs', ['10.0.0.0'], `${ranges} (did you mean 10.0.0.0/32?)`],
    ['allowCidrs', mixed, `${ranges} (did you mean 10.0.0.0/8 and 172.16.0.0/12?)`],
    ['allowCidrs', ['private'], ranges],
    ['allowCidrs', '10.0.0.0/8', ranges],
    ...wrongCanaries.map((canary) => ['canaries', [canary], 'one to ten of host:port'] as const),
    ...wrongRemovals.map((removal) => ['removalPolicy', removal, 'destroy, retain'] as const),
    ['logRetention', 31, 'one of RetentionDays'],
    ['tracing', 'yes', 'true or false'],
    ['tlsSessionResumption', 'on', 'true or false'],
    ['dashboard', 1, 'true or false'],
    ['detailedMetrics', 'all', 'true or false'],
    ['budget', -1, 'a number of US dollars above 0'],
    ['vpc', 'vpc-1', 'a VPC'],
    ['encryptionKey', 'alias/mine', 'a KMS key'],
    ['alarmTopic', 'arn', 'an SNS topic'],
    ...wrongSecrets.map((secrets) => ['secrets', secrets, references] as const),
    ['execRunner', {}, runners],
    ['fleet', [{ targets: 5 }], fleets],
    ['tableName', 'a b', 'the name of a table: 3 to 255 letters, digits, dots, dashes or underscores'],
    ['targetsMax', 0, 'a whole number from 1 to 10000000'],
  ];

  const room = 'so that a hand-over and a rescue find room';
  const loopback =
    'allowLoopback: is true; allowed: only with stage emulator, since on AWS nothing of ours listens there';
  const manyHosts = Array(40).fill(`${'s'.repeat(80)}.test`);
  const others: readonly (readonly [object, string])[] = [
    [
      { canaries: ['127.0.0.1:443', 'localhost:80'] },
      'canaries: are all on loopback, which says nothing of the network; allowed: at least one beyond it',
    ],
    [
      { secrets: { 'ssm:/probelet/token': manyHosts } },
      "secrets, allowCidrs, canaries, execRunner: take 3482 bytes of the prober's environment; allowed: 3072 together, since Lambda takes 4096 and some are for names that AWS gives",
    ],
    [
      { authorizer: new HttpNoneAuthorizer() },
      'authorizer: is HttpNoneAuthorizer; allowed: an authorizer of HTTP APIs: IAM, JWT or Lambda, never none',
    ],
    [{ allowLoopback: true }, loopback],
    [{ allowLoopback: true, stage: 'production' }, loopback],
    ...(['fargate', 'auto'] as const).map(
      (compute) =>
        [
          { compute },
          `compute: is ${compute}; allowed: only together with fleet, which says how many tasks there are`,
        ] as const,
    ),
    [
      { compute: 'fargate', fleet: fleetOf(10_000), memorySize: 512 },
      'memorySize: is 512; allowed: only with compute lambda, since a shard of tasks has one vCPU',
    ],
    [
      { tableName: 'probelet-restored', removalPolicy: RemovalPolicy.DESTROY },
      'removalPolicy: allowed: only without tableName, since a table that exists already is not removed',
    ],
    [{ vpcSubnets: {} }, 'vpcSubnets: allowed: only together with vpc'],
    [{ reservedConcurrency: 3 }, `reservedConcurrency: is 3; allowed: at least 4 (2 × 1 shards + 2, ${room})`],
    [{ maxConcurrency: 3 }, `maxConcurrency: is 3; allowed: at least 4 (2 × 1 shards + 2, ${room})`],
    [
      { reservedConcurrency: 5, fleet: fleetOf(1_000), memorySize: 256 },
      `reservedConcurrency: is 5; allowed: at least 6 (2 × 2 shards + 2, ${room})`,
    ],
    [{ reservedConcurrency: 6, maxConcurrency: 8 }, 'maxConcurrency: is 8; allowed: at most reservedConcurrency, 6'],
  ];
  const ofValues = values.map(
    ([prop, value, allowed]) =>
      [{ [prop]: value }, `${prop}: is ${JSON.stringify(value)}; allowed: ${allowed}`] as const,
  );
  for (const [props, message] of [...ofValues, ...others]) {
    const name = Object.entries(props).map(([prop, value]) => `${prop}: ${short(value)}`);
    test(name.join(', ').slice(0, 80), () => assert.equal(refusal(props), message));
  }

  test('a VPC without canaries', () => {
    const { vpc, canaries } = inSomeVpc(new Stack());
    assert.equal(refusal({ vpc, canaries }), 'nothing');
    assert.match(refusal({ vpc }), /^canaries: is missing; allowed with vpc: one to ten of host:port on the way that/);
  });

  test('one that there is not, with those that there are', () => {
    const allowed = 'allowed: stage, encryptionKey, .*, budget';
    const said = new RegExp(`^memorysize: there is no such prop \\(did you mean memorySize\\?\\); ${allowed}$`);
    assert.match(refusal({ memorysize: 512 }), said);
  });

  test('all at once', () => {
    const lines = refusal({ memorySize: 1, mode: 'x' }).split('\n');
    const props = lines.map((one) => one.trim().split(':')[0]);
    assert.deepEqual(props, ['memorySize', 'mode']);
  });

  test('a key without a region', () => {
    assert.throws(() => constructed((stack) => ({ encryptionKey: new Key(stack, 'Key') })), {
      name: 'RangeError',
      message: /encryptionKey: allowed: only in a stack with a region/,
    });
  });
});

const named = (part: string, resources: readonly NamedResource[]) => {
  const [found] = resources.filter(({ id }) => id.includes(part));
  assert.ok(found);
  return found.Properties;
};
const prober = (resources: readonly NamedResource[]) => named('ProberFleet', resources);

const ofTheAccount = { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };

describe('a right prop', () => {
  test('of what may be dialed reaches the functions', () => {
    const template = synthesized({
      stage: 'emulator',
      allowLoopback: true,
      allowCidrs: ['10.0.0.0/8', 'fd12::/16'],
      canaries: ['example.com:443', '[2001:db8::1]:53'],
      mode: 'tick',
      memorySize: 512,
    });
    const { Environment, MemorySize } = prober(resourcesOf(template, 'AWS::Lambda::Function'));
    const { PROBELET_ALLOW_LOOPBACK, PROBELET_ALLOW_CIDRS, PROBELET_CANARIES } = Environment.Variables;
    const given = [PROBELET_ALLOW_LOOPBACK, PROBELET_ALLOW_CIDRS, PROBELET_CANARIES, MemorySize];
    assert.deepEqual(given, ['1', '10.0.0.0/8,fd12::/16', 'example.com:443,[2001:db8::1]:53', 512]);
    const schedule = named('ShardSchedule', resourcesOf(template, 'AWS::Lambda::Function'));
    const { PROBELET_MODE, PROBELET_CAPACITY_MB } = schedule.Environment.Variables;
    assert.deepEqual([PROBELET_MODE, PROBELET_CAPACITY_MB], ['tick', '512']);
  });

  test('of TLS sessions reaches the prober alone, as a release of its own', () => {
    const functionsOf = (props: ProbeletProps) => resourcesOf(synthesized(props), 'AWS::Lambda::Function');
    const chosen = (properties: ReturnType<typeof named>) =>
      readEnvironment(['tlsSessionResumption', 'release'], {
        PROBELET_RELEASE: 'r',
        ...properties.Environment.Variables,
      });
    const [off, on] = [functionsOf({}), functionsOf({ tlsSessionResumption: true })];
    const [before, after] = [chosen(prober(off)), chosen(prober(on))];
    assert.deepEqual([before.tlsSessionResumption, after.tlsSessionResumption], [false, true]);
    assert.notEqual(before.release, after.release);
    for (const other of ['ShardSchedule', 'StatusSync', 'Api'])
      assert.equal(chosen(named(other, on)).tlsSessionResumption, false);
  });

  test('of secrets reaches the prober and the API, as they read it', () => {
    const secrets = { 'ssm:/probelet/token': ['shop.test', '[2001:db8::1]:443'], 'secretsmanager:probelet/a': ['*.b'] };
    const shop = { host: 'shop.test', isBelow: false };
    const v6 = { host: '2001:db8::1', isBelow: false, port: 443 };
    const functions = resourcesOf(synthesized({ secrets }), 'AWS::Lambda::Function');
    for (const reader of ['ProberFleet', 'Api']) {
      const { secretHosts } = readEnvironment(['secretHosts'], named(reader, functions).Environment.Variables);
      assert.deepEqual(Object.fromEntries(secretHosts), {
        'ssm:/probelet/token': [shop, v6],
        'secretsmanager:probelet/a': [{ host: 'b', isBelow: true }],
      });
    }
    for (const other of ['ShardSchedule', 'StatusSync'])
      assert.ok(!('PROBELET_SECRETS' in named(other, functions).Environment.Variables));
  });

  test('of the network is the prober’s alone', () => {
    const template = synthesized(inSomeVpc);
    const functions = resourcesOf(template, 'AWS::Lambda::Function');
    assert.deepEqual(prober(functions).VpcConfig.SubnetIds, ['subnet-0123456789abcdef0']);
    assert.equal(functions.filter(({ Properties }) => Properties.VpcConfig).length, 1);
  });

  test('of concurrency bounds the prober and its queue', () => {
    const template = synthesized({ reservedConcurrency: 8, maxConcurrency: 6 });
    assert.equal(prober(resourcesOf(template, 'AWS::Lambda::Function')).ReservedConcurrentExecutions, 8);
    const mapping = prober(resourcesOf(template, 'AWS::Lambda::EventSourceMapping'));
    assert.deepEqual(mapping.ScalingConfig, { MaximumConcurrency: 6 });
  });

  test('of the fleet, or of its own, says how many statuses are computed at the same time', () => {
    const atOnce = (props: ProbeletProps) => {
      const mappings = resourcesOf(synthesized(props), 'AWS::Lambda::EventSourceMapping');
      return mappings.find(({ id }) => id.includes('StatusSync'))?.Properties.ScalingConfig.MaximumConcurrency;
    };
    const ofFleet = (targets: number) => atOnce({ fleet: [{ targets, periodSeconds: 10 }], memorySize: 2_048 });
    assert.deepEqual([100, 10_000, 100_000, 10_000_000].map(ofFleet), [5, 9, 84, 1_000]);
    assert.equal(atOnce({}), 5);
    assert.equal(atOnce({ statusSyncConcurrency: 30 }), 30);
  });

  test('of concurrency bounds the API, so that it takes none from the prober', () => {
    const functions = resourcesOf(synthesized({ apiReservedConcurrency: 10 }), 'AWS::Lambda::Function');
    const [api, ...others] = functions.filter(
      ({ Properties }) => Properties.ReservedConcurrentExecutions !== undefined,
    );
    assert.deepEqual(others, []);
    const bounded = [nameOf(api?.id ?? ''), api?.Properties.ReservedConcurrentExecutions];
    assert.deepEqual(bounded, ['ProbeletApiFunction', 10]);
  });

  test('of the schema registry leaves it out, for a region that has none', () => {
    const kinds = (props: ProbeletProps) =>
      ['Registry', 'Schema'].map((kind) => resourcesOf(synthesized(props), `AWS::EventSchemas::${kind}`).length > 0);
    assert.deepEqual(
      [kinds({}), kinds({ schemaRegistry: false })],
      [
        [true, true],
        [false, false],
      ],
    );
  });

  test('of quotas limits what may be registered, and all limits each namespace', () => {
    const limitsOf = (props: object) => {
      const functions = resourcesOf(synthesized(props), 'AWS::Lambda::Function');
      const { Variables } = functions.find(({ id }) => nameOf(id).includes('Api'))?.Properties.Environment ?? {};
      return ['TARGETS', 'TARGETS_PER_NAMESPACE', 'PROBES_PER_SECOND'].map((name) => Variables[`PROBELET_${name}_MAX`]);
    };
    assert.deepEqual(limitsOf({}), ['1000000', '1000000', '103731']);
    assert.deepEqual(limitsOf({ memorySize: 256, targetsMax: 500 }), ['500', '500', '51865']);
    const limits = { targetsMax: 500, targetsPerNamespaceMax: 50, probesPerSecondMax: 5 };
    assert.deepEqual(limitsOf(limits), ['500', '50', '5']);
  });

  test('of the emulator leaves out what it does not know', () => {
    const template = synthesized({ stage: 'emulator' });
    for (const type of ['AWS::Events::EventBusPolicy', 'AWS::EventSchemas::Registry', 'AWS::EventSchemas::Schema'])
      assert.deepEqual(resourcesOf(template, type), []);
  });

  test('encrypts table, queues, bus, logs and environment with the key', () => {
    const template = synthesized((stack) => ({ encryptionKey: new Key(stack, 'Key') }), { region: 'eu-central-1' });
    const arn = '{Key.Arn}';
    const keysOf = (type: string, key: string) =>
      resourcesOf(template, type).map(({ Properties }) => short(Properties[key]));
    const queues = resourcesOf(template, 'AWS::SQS::Queue').filter(({ id }) => nameOf(id) !== 'ProbeletBusDeadLetters');
    for (const { id, Properties } of queues) assert.equal(short(Properties.KmsMasterKeyId), arn, id);
    assert.deepEqual(new Set(keysOf('AWS::Logs::LogGroup', 'KmsKeyId')), new Set([arn]));
    assert.deepEqual(
      new Set(functionsOf(template).map(({ Properties }) => short(Properties.KmsKeyArn))),
      new Set([arn]),
    );
    assert.deepEqual(keysOf('AWS::Events::EventBus', 'KmsKeyIdentifier'), [arn]);
    const [table] = resourcesOf(template, 'AWS::DynamoDB::GlobalTable');
    assert.equal(short(table?.Properties.Replicas[0].SSESpecification.KMSMasterKeyId), arn);
  });

  test('keeps what a customer key could not decrypt, in a queue that does not need the key', () => {
    const template = synthesized((stack) => ({ encryptionKey: new Key(stack, 'Key') }), { region: 'eu-central-1' });
    const [bus] = resourcesOf(template, 'AWS::Events::EventBus');
    assert.equal(short(bus?.Properties.DeadLetterConfig.Arn), '{ProbeletBusDeadLetters.Arn}');
    const queue = resourcesOf(template, 'AWS::SQS::Queue').find(({ id }) => nameOf(id) === 'ProbeletBusDeadLetters');
    assert.deepEqual(queue?.Properties, { MessageRetentionPeriod: 1_209_600, SqsManagedSseEnabled: true });
    const statements = resourcesOf(template, 'AWS::SQS::QueuePolicy').flatMap(({ id, Properties }) =>
      nameOf(id) === 'ProbeletBusDeadLettersPolicy' ? Properties.PolicyDocument.Statement : [],
    );
    assert.deepEqual(statements.find(({ Effect }) => Effect === 'Allow')?.Condition, ofTheAccount);
    const watched = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(({ Properties }) =>
      short(Properties.Dimensions?.[0].Value),
    );
    assert.ok(watched.includes('{ProbeletBusDeadLetters.QueueName}'));
  });

  test('of alarms notifies the topic, also when all is well again', () => {
    const template = synthesized((stack) => ({ alarmTopic: new Topic(stack, 'Topic') }));
    for (const { Properties } of resourcesOf(template, 'AWS::CloudWatch::Alarm')) {
      assert.deepEqual(Properties.AlarmActions.map(short), ['{Topic}']);
      assert.deepEqual(Properties.OKActions.map(short), ['{Topic}']);
    }
  });

  test('of alarms lets them tell a topic that has a policy of its own', () => {
    const template = synthesized((stack) => ({ alarmTopic: new Topic(stack, 'Topic', { enforceSSL: true }) }));
    const [policy] = resourcesOf(template, 'AWS::SNS::TopicPolicy');
    const statements = policy?.Properties.PolicyDocument.Statement as readonly Record<string, unknown>[];
    const [allowed, ...others] = statements.filter(({ Effect }) => Effect === 'Allow');
    assert.deepEqual(others, []);
    const { Principal, Action, Condition } = allowed ?? {};
    assert.deepEqual([Principal, Action], [{ Service: 'cloudwatch.amazonaws.com' }, 'sns:Publish']);
    assert.deepEqual(Condition, ofTheAccount);
  });

  test('of metrics and dashboard make both, and a dashboard shows what there is', () => {
    const names = [...new Set(Object.values(metricsOf).flat())];
    const shown = (props: ProbeletProps) => {
      const template = synthesized(props);
      const [dashboard, ...others] = resourcesOf(template, 'AWS::CloudWatch::Dashboard');
      assert.deepEqual(others, []);
      const detailed = functionsOf(template).map(
        ({ Properties }) => Properties.Environment.Variables.PROBELET_DETAILED_METRICS,
      );
      const body = short(dashboard?.Properties.DashboardBody ?? '');
      const own = names.filter((name) => body.includes(`"probelet","${name}"`));
      return { detailed: [...new Set(detailed)], own, fromAws: body.includes('AWS/DynamoDB') };
    };
    const watched = ['ShardsWithoutHolder', 'ProbesLate', 'ShardsDegraded'];
    const all = { detailed: ['1'], fromAws: false };
    assert.deepEqual(shown({}), { detailed: [undefined], own: [], fromAws: false });
    assert.deepEqual(shown({ dashboard: true }), { detailed: [undefined], own: watched, fromAws: true });
    assert.deepEqual(shown({ detailedMetrics: true }), { ...all, own: [] });
    const { own, ...rest } = shown({ detailedMetrics: true, dashboard: true });
    assert.deepEqual(rest, all);
    assert.ok(own.length > watched.length && own.includes('ProbesFailed') && own.includes('WriteUnits'), `${own}`);
  });

  test('of logs keeps them for so long', () => {
    const template = synthesized({ logRetention: RetentionDays.ONE_WEEK });
    for (const { Properties } of resourcesOf(template, 'AWS::Logs::LogGroup'))
      assert.equal(Properties.RetentionInDays, 7);
  });

  test('may be undefined', () => {
    // As from JavaScript, or from a type without exactOptionalPropertyTypes.
    assert.equal(refusal({ memorySize: undefined, vpc: undefined, removalPolicy: RemovalPolicy.DESTROY }), 'nothing');
  });
});

describe('another authorizer', () => {
  const jwt = () => new HttpJwtAuthorizer('Jwt', 'https://issuer.example.com', { jwtAudience: ['probelet'] });

  test('guards all routes but /healthz', () => {
    const template = synthesized({ authorizer: jwt() });
    assert.deepEqual(openRoutes(template), ['GET /healthz']);
    const routes = resourcesOf(template, 'AWS::ApiGatewayV2::Route');
    const kinds = routes.map(({ Properties }) => Properties.AuthorizationType);
    assert.deepEqual(new Set(kinds), new Set(['NONE', 'JWT']));
  });

  test('leaves nothing to grant', () => {
    const { probelet, stack } = constructed({ authorizer: jwt() });
    const role = new Role(stack, 'Client', { assumedBy: new AccountRootPrincipal() });
    const message = /^authorizer: grants are for IAM/;
    assert.throws(() => probelet.grantRegister(role), { name: 'RangeError', message });
  });
});

test('onUpdate calls the target with the events that fit', () => {
  const made = constructed();
  made.probelet.onUpdate('Restarts', {
    detailType: 'Container Restart Requested',
    pattern: { target: { namespace: ['shop'] } },
    target: new SqsQueue(new Queue(made.stack, 'Inbox')),
  });
  const [rule] = resourcesOf(templateOf(made), 'AWS::Events::Rule').filter(({ id }) => id.includes('Restarts'));
  assert.deepEqual(rule?.Properties.EventPattern, {
    source: ['probelet'],
    'detail-type': ['Container Restart Requested'],
    detail: { target: { namespace: ['shop'] } },
  });
  assert.equal(short(rule?.Properties.EventBusName), '{ProbeletBus}');
  assert.equal(short(rule?.Properties.Targets[0].Arn), '{Inbox.Arn}');
});

describe('onUpdate refuses what would never match', () => {
  const rows: readonly (readonly [detailType: unknown, message: RegExp])[] = [
    [
      'Container Restarted',
      /^RangeError: detailType: there is no event Container Restarted .*; allowed: .*Container Restart Requested/,
    ],
    ['Probe Result Change', /there is no event Probe Result Change \(did you mean Probe Result Changed\?\); allowed: /],
    [['Target Status Changed', 'Anything'], /there is no event Anything; allowed: .*Target Status Changed/],
    [[], /detailType: is empty; allowed: /],
  ];
  for (const [detailType, message] of rows)
    test(JSON.stringify(detailType), () => {
      const { probelet } = constructed();
      const rule = { detailType, target: { bind: () => ({ arn: 'arn:aws:sqs:us-east-1:111111111111:q' }) } };
      assert.throws(() => probelet.onUpdate('Rule', rule as unknown as UpdateRule), message);
    });
});
