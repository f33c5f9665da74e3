/** The kinds of deployments whose templates are judged: together they give every prop that AWS sees. */
import { Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { HttpJwtAuthorizer, HttpLambdaAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { SecurityGroup, SubnetType } from 'aws-cdk-lib/aws-ec2';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import type { ProbeletProps } from '../../cdk/props.ts';
import { constructed, type Deployment, inSomeVpc, type Synthesized } from './synthesized.ts';

export const onInstances: Deployment = () => ({
  execRunner: { instances: { tagKey: 'probelet', tagValue: 'exec' } },
});

/** With a key, so only in a stack of a region. */
export const everything: Deployment = (stack) => ({
  ...inSomeVpc(stack),
  ...onInstances(stack),
  tracing: true,
  secrets: { 'ssm:/probelet/token': ['shop.test'], 'secretsmanager:probelet/token': ['shop.test'] },
  encryptionKey: new Key(stack, 'Key', { enableKeyRotation: true }),
  alarmTopic: new Topic(stack, 'Topic', { enforceSSL: true }),
});

export const onTasks: ProbeletProps = {
  compute: 'fargate',
  fleet: [{ targets: 10_000, periodSeconds: 10, probe: 'https' }],
};

const someFunction = (stack: Stack, id: string) =>
  LambdaFunction.fromFunctionAttributes(stack, id, {
    functionArn: `arn:aws:lambda:us-east-1:000000000000:function:${id}`,
    sameEnvironment: true,
  });

/** All that the props say in numbers, ranges and words, and an authorizer that is none of ours. */
const inNumbers: ProbeletProps = {
  authorizer: new HttpJwtAuthorizer('Jwt', 'https://issuer.test', { jwtAudience: ['probelet'] }),
  stage: 'production',
  mode: 'tick',
  memorySize: 1_024,
  allowCidrs: ['10.0.0.0/8', 'fd12::/16'],
  canaries: ['one.one.one.one:443'],
  tlsSessionResumption: true,
  detailedMetrics: true,
  dashboard: true,
  logRetention: RetentionDays.ONE_YEAR,
  removalPolicy: RemovalPolicy.DESTROY,
  reservedConcurrency: 100,
  maxConcurrency: 100,
  statusSyncConcurrency: 10,
  apiReservedConcurrency: 10,
  targetsMax: 5_000,
  targetsPerNamespaceMax: 1_000,
  probesPerSecondMax: 500,
  budget: 500,
};

/** A fleet for which the table is prepared. */
const large: ProbeletProps = { fleet: [{ targets: 100_000, periodSeconds: 10, probe: 'https' }] };

const inSubnets: Deployment = (stack) => ({
  ...inSomeVpc(stack),
  tableName: 'probelet-restored',
  vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
  securityGroups: [SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-0123456789abcdef0')],
  execRunner: { functions: { db: someFunction(stack, 'db') } },
  authorizer: new HttpLambdaAuthorizer('Authorizer', someFunction(stack, 'authorizer'), {
    resultsCacheTtl: Duration.minutes(1),
  }),
});

/** Tasks, since they are cheaper for so many. */
const tasksWithAll = (stack: Stack): ProbeletProps => ({ ...everything(stack), ...large, compute: 'auto' });

/** Subscribers of the bus. */
function subscribe({ stack, probelet }: Synthesized): void {
  const topic = new Topic(stack, 'Oncall', { enforceSSL: true });
  const deadLetterQueue = new Queue(stack, 'Lost', { enforceSSL: true });
  probelet.alert('Alert', { topic, deadLetterQueue });
  const target = new SqsQueue(new Queue(stack, 'Told', { enforceSSL: true }), { deadLetterQueue });
  probelet.onUpdate('Ready', { detailType: 'Target Status Changed', target });
}

export type Variant = {
  readonly name: string;
  readonly deployment: ProbeletProps | Deployment;
  /** The stack has a region, as with a key of its own. */
  readonly inRegion?: true;
  readonly subscribe?: (made: Synthesized) => void;
};

export const variants: readonly Variant[] = [
  { name: 'default', deployment: {} },
  { name: 'VPC, key, topic, secrets, runners on instances, traces', deployment: everything, inRegion: true },
  {
    name: 'subnets and groups of a VPC, functions as runners, Lambda authorizer, a restored table',
    deployment: inSubnets,
  },
  { name: 'all that is said in numbers and words, JWT authorizer', deployment: inNumbers },
  { name: 'large fleet, alerts and a rule', deployment: large, subscribe },
  { name: 'tasks in a network of their own', deployment: onTasks },
  { name: 'tasks with all else', deployment: tasksWithAll, inRegion: true },
  { name: 'no registry', deployment: { schemaRegistry: false } },
  {
    name: 'tasks with all else, no registry',
    deployment: (stack) => ({ ...tasksWithAll(stack), schemaRegistry: false }),
    inRegion: true,
  },
];

/** Region of those that need one. */
export const someRegion = { region: 'eu-central-1' };

export function constructedVariant({ deployment, inRegion, subscribe: tell }: Variant): Synthesized {
  const made = constructed(deployment, inRegion && someRegion);
  tell?.(made);
  return made;
}
