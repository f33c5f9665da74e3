/** Tasks of ECS Fargate in place of the prober function: who holds the shards, with which rights, in which order. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { computeOf } from '../../cdk/validate-props.ts';
import { taskAlarms } from '../../shared/cost/estimate.ts';
import type { Fleet } from '../../shared/cost/fleet.ts';
import { roleStatements } from '../support/statements.ts';
import {
  type Deployment,
  functionsOf,
  inSomeVpc,
  nameOf,
  resourcesOf,
  short,
  synthesized,
  type TemplateJson,
} from '../support/synthesized.ts';

const fleetOf = (targets: number): Fleet => [{ targets, periodSeconds: 10, probe: 'https' }];
const fleet = fleetOf(10_000);
const onTasks: Deployment = () => ({ compute: 'fargate', fleet });

const prober = 'ProbeletProberFleetProberRole';
const tasks = 'ProbeletProberFleetTasksRole';

const only = (template: TemplateJson, type: string) => {
  const [one, ...others] = resourcesOf(template, type);
  assert.ok(one && others.length === 0, type);
  return one;
};

const mappingOf = (template: TemplateJson) =>
  resourcesOf(template, 'AWS::Lambda::EventSourceMapping').find(({ id }) => nameOf(id).endsWith('ProberFleetMapping'));

describe('compute', () => {
  test('is the function by default, and whatever the size of the fleet', () => {
    for (const props of [{}, { fleet: fleetOf(100_000) }] as const) {
      const template = synthesized(props);
      assert.deepEqual(resourcesOf(template, 'AWS::ECS::Service'), []);
      assert.equal(mappingOf(template)?.Properties.Enabled, true);
    }
  });

  test('auto is tasks for a large fleet and the function for a small one', () => {
    const auto = (targets: number) => computeOf({ compute: 'auto', fleet: fleetOf(targets) });
    assert.deepEqual([100, 500, 10_000, 100_000].map(auto), ['lambda', 'lambda', 'fargate', 'fargate']);
    assert.equal(resourcesOf(synthesized({ compute: 'auto', fleet }), 'AWS::ECS::Service').length, 1);
  });
});

describe('tasks', () => {
  const template = synthesized(onTasks);
  const service = only(template, 'AWS::ECS::Service').Properties;
  const task = only(template, 'AWS::ECS::TaskDefinition').Properties;
  const [container] = task.ContainerDefinitions;

  test('are one for each shard and one more, all by Spot', () => {
    assert.equal(service.DesiredCount, 5);
    assert.deepEqual(service.CapacityProviderStrategy, [{ CapacityProvider: 'FARGATE_SPOT', Weight: 1 }]);
  });

  test('have a vCPU of arm64, two minutes to stop, and nothing to write to', () => {
    assert.deepEqual([task.Cpu, task.Memory, task.RuntimePlatform.CpuArchitecture], ['1024', '2048', 'ARM64']);
    assert.deepEqual([container.StopTimeout, container.ReadonlyRootFilesystem], [120, true]);
  });

  test('have the variables of the function, of the same release', () => {
    const variablesOf = (deployed: TemplateJson) =>
      resourcesOf(deployed, 'AWS::Lambda::Function')[0]?.Properties.Environment.Variables;
    const variables = variablesOf(template);
    const own = Object.fromEntries(
      container.Environment.map(({ Name, Value }: { readonly Name: string; readonly Value: unknown }) => [Name, Value]),
    );
    assert.deepEqual(own, { ...variables, AWS_REGION: { Ref: 'AWS::Region' } });
    const before = variablesOf(synthesized({ fleet, memorySize: 1_769 }));
    assert.notEqual(before.PROBELET_RELEASE, variables.PROBELET_RELEASE);
  });

  test('receive before the function stops to, and before the schedule asks for their release', () => {
    const mapping = mappingOf(template);
    assert.equal(mapping?.Properties.Enabled, false);
    const schedule = resourcesOf(template, 'AWS::Lambda::Function').find(({ id }) => id.includes('ShardSchedule'));
    for (const one of [mapping, schedule])
      assert.ok(one?.DependsOn?.some((id) => nameOf(id) === 'ProbeletProberFleetTasksService'));
  });

  test('wait for the capacity providers of their cluster, and for their way out', () => {
    const { DependsOn = [] } = only(template, 'AWS::ECS::Service');
    for (const type of ['AWS::ECS::ClusterCapacityProviderAssociations', 'AWS::EC2::VPCGatewayAttachment'])
      assert.ok(DependsOn.includes(only(template, type).id), type);
  });

  test('are probers of what they can hold: beyond it registrations are refused', () => {
    const [quota] = functionsOf(template).flatMap(
      ({ Properties }) => Properties.Environment.Variables.PROBELET_PROBES_PER_SECOND_MAX ?? [],
    );
    assert.equal(quota, '5600');
    const { Properties } =
      resourcesOf(template, 'AWS::Lambda::Function').find(({ id }) => id.includes('ShardSchedule')) ?? {};
    assert.equal(Properties.Environment.Variables.PROBELET_CAPACITY_MB, '1769');
  });

  test('are in the network of the function, or in one of their own with public addresses', () => {
    assert.equal(service.NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp, 'ENABLED');
    const given = synthesized((stack) => ({ ...onTasks(stack), ...inSomeVpc(stack) }));
    assert.deepEqual(resourcesOf(given, 'AWS::EC2::VPC'), []);
    const { AwsvpcConfiguration } = only(given, 'AWS::ECS::Service').Properties.NetworkConfiguration;
    const [inVpc] = resourcesOf(given, 'AWS::Lambda::Function');
    assert.equal(AwsvpcConfiguration.AssignPublicIp, 'DISABLED');
    assert.deepEqual(AwsvpcConfiguration.Subnets, inVpc?.Properties.VpcConfig.SubnetIds);
  });

  test('raise an alarm when fewer run for five minutes', () => {
    const own = resourcesOf(template, 'AWS::CloudWatch::Alarm').filter(({ id }) => /TasksMissing/.test(id));
    assert.equal(own.length, taskAlarms);
    const { Namespace, MetricName, Statistic, Period, ComparisonOperator, Threshold, ...rest } =
      own[0]?.Properties ?? {};
    assert.deepEqual(
      [Namespace, MetricName, Statistic, Period, ComparisonOperator, Threshold],
      ['AWS/ECS', 'CPUUtilization', 'SampleCount', 60, 'LessThanThreshold', 5],
    );
    assert.deepEqual([rest.DatapointsToAlarm, rest.EvaluationPeriods, rest.TreatMissingData], [5, 5, 'breaching']);
  });
});

describe('the rights of a task', () => {
  const statements = (deployment: Deployment) => {
    const template = synthesized((stack) => ({ ...onTasks(stack), ...deployment(stack) }), { region: 'eu-central-1' });
    return roleStatements(template);
  };

  test('are those of the function on table and bus, and to receive, without what only Lambda needs', () => {
    const { [tasks]: own = [], [prober]: ofFunction = [] } = statements(() => ({}));
    assert.deepEqual(own, [
      'Shards Allow sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:ReceiveMessage sqs:SendMessage on {ProbeletShards.Arn}',
      ...ofFunction.filter((one) => /^(Table|Bus) /.test(one)),
    ]);
  });

  test('are added by the same props', () => {
    const all: Deployment = (stack) => ({
      ...inSomeVpc(stack),
      secrets: { 'ssm:/probelet/token': ['shop.test'] },
      execRunner: {
        functions: {
          migrate: LambdaFunction.fromFunctionArn(stack, 'Migrate', 'arn:aws:lambda:us-east-1:111122223333:function:m'),
        },
      },
      encryptionKey: new Key(stack, 'Key'),
    });
    const { [tasks]: own = [], [prober]: ofFunction = [] } = statements(all);
    const ofLambda = /^(Shards|WriteLogs|LambdaAttachesToVpc|CodeDoesNot) /;
    assert.deepEqual(
      own.filter((one) => !one.startsWith('Shards ')),
      ofFunction.filter((one) => !ofLambda.test(one)),
    );
    assert.ok(own.some((one) => one.startsWith('UseKey ')) && own.some((one) => one.startsWith('Parameters ')));
  });

  test('of ECS itself are to pull the image and to write the log', () => {
    const own = statements(() => ({})).ProbeletProberFleetTasksExecutionRole ?? [];
    assert.deepEqual(
      own.map((one) => one.replace(/ on arn.*| on \{.*/, '')),
      [
        '- Allow ecr:BatchCheckLayerAvailability ecr:BatchGetImage ecr:GetDownloadUrlForLayer',
        '- Allow ecr:GetAuthorizationToken on *',
        '- Allow logs:CreateLogStream logs:PutLogEvents',
      ],
    );
  });

  test('are for tasks of this account only, and include to tell results', () => {
    const template = synthesized(onTasks);
    const roles = resourcesOf(template, 'AWS::IAM::Role').filter(({ id }) => /Tasks/.test(id));
    assert.equal(roles.length, 2);
    for (const { Properties } of roles) {
      const [statement, ...others] = Properties.AssumeRolePolicyDocument.Statement;
      assert.deepEqual(others, []);
      assert.deepEqual(statement.Condition, { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } });
    }
    const guards = resourcesOf(template, 'AWS::Events::EventBusPolicy').map(({ Properties }) =>
      Properties.Statement.Condition.ArnNotEquals['aws:PrincipalArn'].map(short),
    );
    for (const roleArns of guards) assert.ok(roleArns.includes(`{${tasks}.Arn}`));
  });
});
