/** The rights of each role, statement by statement. A statement more, less or wider fails here, before a deployment. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Stack } from 'aws-cdk-lib';
import { HttpNoneAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import {
  AccountPrincipal,
  AccountRootPrincipal,
  ArnPrincipal,
  type IGrantable,
  PolicyStatement,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import {
  openRoutes,
  resourceStatements,
  roleStatements,
  rolesWithMore,
  type Statements,
  wildcards,
} from '../support/statements.ts';
import { constructed, inSomeVpc, resourcesOf, synthesized, templateOf } from '../support/synthesized.ts';

const prober = 'ProbeletProberFleetProberRole';
const schedule = 'ProbeletShardScheduleRole';
const statusSync = 'ProbeletStatusSyncRole';
const api = 'ProbeletApiRole';
/** Of the CDK's own function, which asks the prober of a deployment whether it starts. */
const trigger = 'AWSCDKTriggerCustomResourceProviderCustomResourceProviderRole';
const startProber = '- Allow lambda:InvokeFunction on {ProbeletProberFleetProberFunction.Arn}:*';
const starts = `${trigger}: ${startProber}`;
/** Of the names that differ between deployments: by the stack's name, and by the place of the bus in it. */
const ofStack = 'bdd4306f';

const readWrite = 'dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem';
const bus = 'Bus Allow events:PutEvents on {ProbeletBus.Arn} if {"StringEquals":{"events:source":"probelet"}}';
const logs = (of: string) => `WriteLogs Allow logs:CreateLogStream logs:PutLogEvents on {${of}.Arn}`;

const ownStatements: Statements = {
  [prober]: [
    logs('ProbeletProberFleetProberLogs'),
    'Shards Allow sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:GetQueueAttributes sqs:ReceiveMessage sqs:SendMessage on {ProbeletShards.Arn}',
    `Table Allow dynamodb:ConditionCheckItem ${readWrite} on {ProbeletTable.Arn}`,
    bus,
  ],
  [schedule]: [
    logs('ProbeletShardScheduleLogs'),
    `Table Allow ${readWrite} on {ProbeletTable.Arn}`,
    'Shards Allow sqs:SendMessage on {ProbeletShards.Arn}',
    bus,
    'DeadLetters Allow sqs:SendMessage on {ProbeletShardScheduleDeadLetters.Arn}',
  ],
  [statusSync]: [
    logs('ProbeletStatusSyncLogs'),
    'Hints Allow sqs:DeleteMessage sqs:GetQueueAttributes sqs:ReceiveMessage on {ProbeletStatusSyncQueue.Arn}',
    `Table Allow dynamodb:ConditionCheckItem dynamodb:DeleteItem ${readWrite} on {ProbeletTable.Arn}`,
    bus,
  ],
  [trigger]: [startProber],
  [api]: [logs('ProbeletApiLogs'), `Table Allow dynamodb:ConditionCheckItem ${readWrite} on {ProbeletTable.Arn}`, bus],
};

const overTls = (queue: string) =>
  `- Deny sqs:* on {${queue}.Arn} by {"AWS":"*"} if {"Bool":{"aws:SecureTransport":"false"}}`;
const fromRule = (rule: string) =>
  `by {"Service":"events.amazonaws.com"} if {"ArnEquals":{"aws:SourceArn":"{${rule}.Arn}"}}`;
const exceptFor = (...roles: readonly string[]) =>
  `"ArnNotEquals":{"aws:PrincipalArn":[${roles.map((role) => `"{${role}.Arn}"`).join(',')}]}`;

const othersStatements: Statements = {
  '{ProbeletShards}': [overTls('ProbeletShards')],
  '{ProbeletShardScheduleDeadLetters}': [
    overTls('ProbeletShardScheduleDeadLetters'),
    `AllowEventRuleProbeletShardScheduleEachMinute1F6C1872 Allow sqs:SendMessage on {ProbeletShardScheduleDeadLetters.Arn} ${fromRule('ProbeletShardScheduleEachMinute')}`,
  ],
  '{ProbeletStatusSyncDeadLetters}': [
    overTls('ProbeletStatusSyncDeadLetters'),
    `AllowEventRuleProbeletStatusSyncWakenersC3DA250F Allow sqs:SendMessage on {ProbeletStatusSyncDeadLetters.Arn} ${fromRule('ProbeletStatusSyncWakeners')}`,
  ],
  '{ProbeletStatusSyncQueue}': [
    overTls('ProbeletStatusSyncQueue'),
    `- Allow sqs:GetQueueAttributes sqs:GetQueueUrl sqs:SendMessage on {ProbeletStatusSyncQueue.Arn} ${fromRule('ProbeletStatusSyncWakeners')}`,
  ],
  [`cdk-OnlyProbeletSpeaksAsProbelet-${ofStack}`]: [
    `cdk-OnlyProbeletSpeaksAsProbelet-${ofStack} Deny events:PutEvents on {ProbeletBus.Arn} by {"AWS":"*"} if {"ForAnyValue:StringEquals":{"events:source":"probelet"},${exceptFor(prober, schedule, statusSync, api)}}`,
  ],
  [`cdk-OnlyTheProberTellsResults-${ofStack}`]: [
    `cdk-OnlyTheProberTellsResults-${ofStack} Deny events:PutEvents on {ProbeletBus.Arn} by {"AWS":"*"} if {"ForAnyValue:StringEquals":{"events:detail-type":"Probe Result Changed"},${exceptFor(prober)}}`,
  ],
  '{ProbeletShardScheduleFunction.Arn}': [
    'lambda:InvokeFunction by events.amazonaws.com from {ProbeletShardScheduleEachMinute.Arn}',
  ],
  '{ProbeletApiFunction.Arn}': [
    'lambda:InvokeFunction by apigateway.amazonaws.com from arn:{AWS::Partition}:execute-api:{AWS::Region}:{AWS::AccountId}:{ProbeletApi}/*/*/*',
  ],
};

describe('by default', () => {
  const template = synthesized();

  test('each function has a role of its own with these statements', () => {
    assert.deepEqual(roleStatements(template), ownStatements);
    assert.deepEqual(rolesWithMore(template), [trigger]);
  });

  test('others may do this and nothing else', () => assert.deepEqual(resourceStatements(template), othersStatements));

  test('no role has a wildcard', () => assert.deepEqual(wildcards(template), [starts]));

  test('only /healthz needs no caller identity', () => assert.deepEqual(openRoutes(template), ['GET /healthz']));
});

describe('what the tests above look for is found', () => {
  test('a wildcard that is added', () => {
    const made = constructed();
    made.probelet.functions.api.addToRolePolicy(new PolicyStatement({ actions: ['dynamodb:*'], resources: ['*'] }));
    assert.deepEqual(wildcards(templateOf(made)), [`${api}: - Allow dynamodb:* on *`, starts]);
  });

  test('a route without authorizer that is added', () => {
    const made = constructed();
    const { api: httpApi, functions } = made.probelet;
    const integration = new HttpLambdaIntegration('Other', functions.api);
    httpApi.addRoutes({ path: '/open', integration, authorizer: new HttpNoneAuthorizer() });
    assert.deepEqual(openRoutes(templateOf(made)), ['GET /healthz', 'ANY /open']);
  });
});

/** What a prop adds to the prober's role. */
const addedTo = (role: string, template: ReturnType<typeof synthesized>): readonly string[] =>
  (roleStatements(template)[role] ?? []).filter((one) => !ownStatements[role]?.includes(one));

describe('a prop adds what it is for', () => {
  const attach =
    'ec2:AssignPrivateIpAddresses ec2:CreateNetworkInterface ec2:DeleteNetworkInterface ec2:DescribeNetworkInterfaces ec2:DescribeSubnets ec2:UnassignPrivateIpAddresses on *';

  test('vpc: Lambda may make network interfaces, which EC2 knows no resource for, and the code may not', () => {
    const template = synthesized(inSomeVpc);
    assert.deepEqual(addedTo(prober, template), [
      `LambdaAttachesToVpc Allow ${attach}`,
      `CodeDoesNot Deny ${attach} if {"Null":{"lambda:SourceFunctionArn":"false"}}`,
    ]);
  });

  test('tracing: each function may send traces, which X-Ray knows no resource for', () => {
    const template = synthesized({ tracing: true });
    for (const role of [prober, schedule, statusSync, api])
      assert.deepEqual(addedTo(role, template), ['- Allow xray:PutTelemetryRecords xray:PutTraceSegments on *']);
  });

  test('execRunner: the functions that are named, and commands on instances with the tag', () => {
    const migrateArn = 'arn:aws:lambda:us-east-1:111122223333:function:migrate';
    const template = synthesized((stack) => ({
      execRunner: {
        functions: { migrate: LambdaFunction.fromFunctionArn(stack, 'Migrate', migrateArn) },
        instances: { tagKey: 'probelet', tagValue: 'exec' },
      },
    }));
    assert.deepEqual(addedTo(prober, template), [
      `ExecFunctions Allow lambda:InvokeFunction on ${migrateArn}`,
      'ExecDocument Allow ssm:SendCommand on arn:{AWS::Partition}:ssm:{AWS::Region}::document/AWS-RunShellScript',
      'ExecInstances Allow ssm:SendCommand on arn:{AWS::Partition}:ec2:{AWS::Region}:{AWS::AccountId}:instance/* arn:{AWS::Partition}:ssm:{AWS::Region}:{AWS::AccountId}:managed-instance/* if {"StringEquals":{"ssm:resourceTag/probelet":"exec"}}',
      'ExecOutput Allow ssm:CancelCommand ssm:GetCommandInvocation on *',
    ]);
    assert.deepEqual(addedTo(api, template), []);
  });

  test('secrets: those that are named', () => {
    const template = synthesized({
      secrets: { 'ssm:/probelet/shop/token': ['shop.test'], 'secretsmanager:probelet/password': ['*.shop.test:443'] },
    });
    assert.deepEqual(addedTo(prober, template), [
      'Parameters Allow ssm:GetParameter on arn:{AWS::Partition}:ssm:{AWS::Region}:{AWS::AccountId}:parameter/probelet/shop/token',
      'Secrets Allow secretsmanager:GetSecretValue on arn:{AWS::Partition}:secretsmanager:{AWS::Region}:{AWS::AccountId}:secret:probelet/password-??????',
    ]);
    assert.deepEqual(addedTo(api, template), []);
  });

  test('encryptionKey: its use, and nothing else', () => {
    const template = synthesized((stack) => ({ encryptionKey: new Key(stack, 'Key') }), { region: 'eu-central-1' });
    const use =
      'UseKey Allow kms:Decrypt kms:DescribeKey kms:Encrypt kms:GenerateDataKey kms:GenerateDataKeyWithoutPlaintext kms:ReEncryptFrom kms:ReEncryptTo on {Key.Arn}';
    for (const role of [prober, schedule, statusSync, api]) assert.deepEqual(addedTo(role, template), [use]);
  });
});

describe('grants', () => {
  const targets = 'v1/namespaces/*/targets';
  const target = `${targets}/*`;
  const read = [
    'GET/openapi.json',
    'GET/v1/prober',
    'GET/v1/targets',
    `GET/${targets}`,
    `GET/${target}`,
    `GET/${target}/events`,
  ];
  const write = [
    ...[`POST/${targets}`, `PUT/${targets}`, `PUT/${target}`, `PATCH/${target}`, `DELETE/${target}`],
    ...[`PUT/${target}/status`, `POST/${target}/restarted`, `POST/${target}/probe`, 'PUT/v1/namespaces/*/desired'],
    'PUT/v1/targets:apply',
  ];

  const grantedBy = (grant: 'grantRegister' | 'grantReadStatus') => {
    const made = constructed();
    const role = new Role(made.stack, 'Client', { assumedBy: new AccountRootPrincipal() });
    made.probelet[grant](role);
    return (roleStatements(templateOf(made)).Client ?? [])
      .flatMap((one) => [...one.matchAll(/execute-api:[^ /]*\/\*\/(\S+)/g)].map(([, route]) => route))
      .toSorted();
  };

  test('grantReadStatus opens what reads', () => assert.deepEqual(grantedBy('grantReadStatus'), read.toSorted()));

  test('grantRegister opens what writes too', () =>
    assert.deepEqual(grantedBy('grantRegister'), [...read, ...write].toSorted()));

  const [here, elsewhere] = ['111111111111', '222222222222'];
  const roleOf = (account: string) => (stack: Stack) =>
    Role.fromRoleArn(stack, 'Given', `arn:aws:iam::${account}:role/given`);
  const refused: readonly (readonly [what: string, grantee: (stack: Stack) => IGrantable])[] = [
    ['a role of another account', roleOf(elsewhere)],
    ['another account', () => new AccountPrincipal(elsewhere)],
    ['an ARN of another account', () => new ArnPrincipal(`arn:aws:iam::${elsewhere}:role/given`)],
    ['a service', () => new ServicePrincipal('lambda.amazonaws.com')],
  ];
  for (const [what, grantee] of refused)
    for (const grant of ['grantRegister', 'grantReadStatus'] as const)
      test(`${grant} of ${what} is refused, because it would change nothing`, () => {
        const { stack, probelet } = constructed({}, { account: here, region: 'eu-west-1' });
        assert.throws(
          () => probelet[grant](grantee(stack)),
          /^RangeError: grantee: .* takes no policy of this stack, .*; let it assume a role of this account/,
        );
      });

  test('a role of this account that exists already gets the policy', () => {
    const made = constructed({}, { account: here, region: 'eu-west-1' });
    made.probelet.grantRegister(roleOf(here)(made.stack));
    const added = resourcesOf(templateOf(made), 'AWS::IAM::Policy').filter(({ id }) => id.startsWith('Given'));
    assert.deepEqual(
      added.map(({ Properties }) => Properties.Roles),
      [['given']],
    );
  });
});
