/** Validates props at synth and reports all errors at once, each with the prop's name and the allowed values. */
import { RemovalPolicy, type Stack, Token } from 'aws-cdk-lib';
import { HttpNoneAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { z } from 'zod';
import { canaryOf } from '../functions/canary.ts';
import { emulatorStage } from '../functions/lambda/environment.ts';
import { reachOf } from '../shared/core/self/health.ts';
import { listed } from '../shared/core/spec/field-problem.ts';
import { probeCpuMs } from '../shared/core/spec/handler-fields.ts';
import { secretHost } from '../shared/core/spec/secret-hosts.ts';
import { cheapestCompute, memoryFor } from '../shared/cost/compute.ts';
import { type Compute, type FleetLayout, fleetLayout, reaches } from '../shared/cost/fleet.ts';
import { proberConcurrencyOf } from '../shared/cost/sizes.ts';
import { nearest } from '../shared/lib/nearest.ts';
import { didYouMean, readCidr } from '../shared/net/cidr.ts';
import { awsSecretPrefix } from '../shared/secrets/aws.ts';
import { chosenBytes, chosenBytesMax } from './prober-environment.ts';
import type { ProbeletProps } from './props.ts';
import { isGrantable } from './secrets.ts';

export const modeDefault = 'auto';
/** Without a fleet. */
const memorySizeDefault = 512;

/** The function's memory in MB: as given, or what holds the given fleet at the least cost. */
export const memorySizeOf = ({ memorySize, fleet, mode = modeDefault, ...props }: ProbeletProps): number =>
  memorySize ?? (fleet ? memoryFor(computeOf({ ...props, fleet, mode }), fleet, mode) : memorySizeDefault);

/** Without a fleet `lambda`, which is the only valid value then. */
export const computeOf = ({ compute, fleet, mode = modeDefault }: ProbeletProps): Compute =>
  compute === 'auto' ? (fleet ? cheapestCompute(fleet, mode) : 'lambda') : (compute ?? 'lambda');

/** The layout of the given fleet, or of one shard. */
export const layoutOf = (props: ProbeletProps): Pick<FleetLayout, 'shards'> => {
  const { fleet = [], mode = modeDefault } = props;
  return fleetLayout(fleet, { mode, memorySize: memorySizeOf(props) });
};

const quotaMax = 10_000_000;

/** `meant` returns a suggestion for a rejected value, as the end of the message. */
type Rule = { readonly allowed: string; readonly schema: z.ZodType; readonly meant?: (value: unknown) => string };

const construct = (allowed: string): Rule => ({ allowed, schema: z.custom((value) => Construct.isConstruct(value)) });
const wholeNumber = (min: number, max: number): Rule => ({
  allowed: `a whole number from ${min} to ${max}`,
  schema: z.int().min(min).max(max),
});
const flag: Rule = { allowed: 'true or false', schema: z.boolean() };
const name = z.string().regex(/^[\w-]{1,64}$/);

const isSecretHost = (text: string) => secretHost(text) !== undefined;

/** Whether the endpoint answers is known only at run time. */
const hostAndPort = z.string().refine((value) => canaryOf(value) !== undefined);

const probeCosts = Object.keys(probeCpuMs);

const fleetPart = z.strictObject({
  targets: z.int().min(0).max(10_000_000),
  periodSeconds: z.int().min(1).max(3_600),
  probe: z.enum(probeCosts).optional(),
  probesPerTarget: z.int().min(1).max(60).optional(),
  reach: z.enum(reaches).optional(),
});

/** A function of this or another stack; checks only the property in use. */
const lambdaFunction = z.custom((value) => Construct.isConstruct(value) && 'functionArn' in value);

/** A DynamoDB table supports no snapshot policy. */
const removalPolicies = [RemovalPolicy.DESTROY, RemovalPolicy.RETAIN] as const;

const rules: { readonly [prop in keyof ProbeletProps]-?: Rule } = {
  stage: {
    allowed: '1 to 64 letters, digits, dots, dashes or underscores',
    schema: z.string().regex(/^[\w.-]{1,64}$/),
  },
  encryptionKey: construct('a KMS key'),
  removalPolicy: {
    allowed: removalPolicies.join(', '),
    schema: z.enum(removalPolicies),
  },
  tableName: {
    allowed: 'the name of a table: 3 to 255 letters, digits, dots, dashes or underscores',
    schema: z.string().regex(/^[\w.-]{3,255}$/),
  },
  vpc: construct('a VPC'),
  vpcSubnets: { allowed: 'a selection of subnets', schema: z.looseObject({}) },
  securityGroups: {
    allowed: 'one to five security groups',
    schema: z
      .array(z.custom((value) => Construct.isConstruct(value)))
      .min(1)
      .max(5),
  },
  allowCidrs: {
    allowed: 'ranges like 10.0.0.0/8',
    schema: z.array(z.string().refine((value) => readCidr(value).kind === 'range')),
    meant: (value) => didYouMean(Array.isArray(value) ? value.map(String) : []),
  },
  allowLoopback: flag,
  canaries: { allowed: 'one to ten of host:port', schema: z.array(hostAndPort).min(1).max(10) },
  tlsSessionResumption: flag,
  execRunner: {
    allowed:
      '{functions: {name: function}, instances: {tagKey, tagValue}}, at least one of both; names of 1 to 64 letters, digits, - and _',
    schema: z
      .strictObject({
        functions: z.record(name, lambdaFunction).optional(),
        instances: z.strictObject({ tagKey: z.string().min(1).max(128), tagValue: z.string().max(256) }).optional(),
      })
      .refine(({ functions, instances }) => functions !== undefined || instances !== undefined),
  },
  secrets: {
    allowed: `1 to 50 references like ssm:/${awsSecretPrefix}token or secretsmanager:${awsSecretPrefix}token, each with 1 to 50 hosts that it may be sent to: {'ssm:/${awsSecretPrefix}token': ['shop.test', '*.shop.test:443', '10.0.0.1']}`,
    schema: z
      .record(z.string().refine(isGrantable), z.array(z.string().refine(isSecretHost)).min(1).max(50))
      .refine((secrets) => Object.keys(secrets).length >= 1 && Object.keys(secrets).length <= 50),
  },
  mode: { allowed: 'auto, resident or tick', schema: z.enum(['auto', 'resident', 'tick']) },
  compute: { allowed: 'lambda, fargate or auto', schema: z.enum(['lambda', 'fargate', 'auto']) },
  memorySize: wholeNumber(128, 10_240),
  authorizer: {
    allowed: 'an authorizer of HTTP APIs: IAM, JWT or Lambda, never none',
    schema: z.custom(
      (value) =>
        typeof value === 'object' && value !== null && 'bind' in value && !(value instanceof HttpNoneAuthorizer),
    ),
  },
  detailedMetrics: flag,
  schemaRegistry: flag,
  dashboard: flag,
  alarmTopic: construct('an SNS topic'),
  logRetention: { allowed: 'one of RetentionDays', schema: z.enum(RetentionDays) },
  reservedConcurrency: wholeNumber(1, 1_000),
  maxConcurrency: wholeNumber(2, 1_000),
  statusSyncConcurrency: wholeNumber(2, 1_000),
  apiReservedConcurrency: wholeNumber(1, 1_000),
  targetsMax: wholeNumber(1, quotaMax),
  targetsPerNamespaceMax: wholeNumber(1, quotaMax),
  probesPerSecondMax: wholeNumber(1, quotaMax),
  tracing: flag,
  fleet: {
    allowed: `a list of {targets, periodSeconds: 1 to 3600, probe: ${listed(probeCosts, 'or')}, probesPerTarget, reach: ${listed(reaches, 'or')}}`,
    schema: z.array(fleetPart).min(1).max(100),
  },
  budget: { allowed: 'a number of US dollars above 0', schema: z.number().positive() },
};

/** The names of all props. */
export const propNames: readonly string[] = Object.keys(rules);

/** The message has one line for each prop, with its name, value and allowed values. */
export class WrongProps extends RangeError {}

/** @throws WrongProps naming every wrong prop. */
export function requireValidProps(props: ProbeletProps, stack: Stack): void {
  const single = Object.entries(props).flatMap(([prop, value]) => propProblem(prop, value));
  const problems = single.length > 0 ? single : crossProblems(props, stack);
  if (problems.length > 0)
    throw new WrongProps(`wrong props of Probelet\n${problems.map((one) => `  ${one}`).join('\n')}`);
}

function propProblem(prop: string, value: unknown): readonly string[] {
  if (!isProp(prop)) return [unknownProp(prop)];
  const { allowed, schema, meant } = rules[prop];
  if (value === undefined || schema.safeParse(value).success) return [];
  return [`${prop}: is ${shown(value)}; allowed: ${allowed}${meant?.(value) ?? ''}`];
}

function unknownProp(prop: string): string {
  const meant = nearest(prop, propNames);
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  return `${prop}: there is no such prop${hint}; allowed: ${propNames.join(', ')}`;
}

const isProp = (prop: string): prop is keyof typeof rules => Object.hasOwn(rules, prop);

/** A construct is circular and would not help the reader. */
function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'bind' in value) return value.constructor.name;
  try {
    return JSON.stringify(value);
  } catch {
    return 'something else';
  }
}

/** Rules that involve several props. */
function crossProblems(props: ProbeletProps, stack: Stack): readonly string[] {
  const { vpc, vpcSubnets, securityGroups, allowLoopback, canaries, stage, reservedConcurrency, maxConcurrency } =
    props;
  const least = leastConcurrency(props);
  const reason = `2 × ${shardsOf(props)} shards + 2, so that a hand-over and a rescue find room`;
  return [
    ...(props.encryptionKey && Token.isUnresolved(stack.region)
      ? [
          'encryptionKey: allowed: only in a stack with a region (env), since the table needs a key in each of its regions',
        ]
      : []),
    ...(props.tableName !== undefined && props.removalPolicy !== undefined
      ? ['removalPolicy: allowed: only without tableName, since a table that exists already is not removed']
      : []),
    ...(vpcSubnets && !vpc ? ['vpcSubnets: allowed: only together with vpc'] : []),
    ...(securityGroups && !vpc ? ['securityGroups: allowed: only together with vpc'] : []),
    ...(allowLoopback && stage !== emulatorStage
      ? [
          `allowLoopback: is true; allowed: only with stage ${emulatorStage}, since on AWS nothing of ours listens there`,
        ]
      : []),
    ...(vpc && !canaries
      ? [
          'canaries: is missing; allowed with vpc: one to ten of host:port on the way that probes take, since the endpoints of DynamoDB and SQS answer although the way to the targets is cut',
        ]
      : []),
    ...(canaries && !allowLoopback && canaries.every((value) => reachOf(canaryOf(value)?.host ?? '') === 'loopback')
      ? ['canaries: are all on loopback, which says nothing of the network; allowed: at least one beyond it']
      : []),
    ...computeProblems(props),
    ...tooLargeEnvironment(props),
    ...tooFew('reservedConcurrency', reservedConcurrency, { least, reason }),
    ...tooFew('maxConcurrency', maxConcurrency, { least, reason }),
    ...(reservedConcurrency !== undefined && maxConcurrency !== undefined && maxConcurrency > reservedConcurrency
      ? [`maxConcurrency: is ${maxConcurrency}; allowed: at most reservedConcurrency, ${reservedConcurrency}`]
      : []),
  ];
}

function computeProblems({ compute = 'lambda', fleet, memorySize }: ProbeletProps): readonly string[] {
  if (compute === 'lambda') return [];
  return [
    ...(fleet
      ? []
      : [`compute: is ${compute}; allowed: only together with fleet, which says how many tasks there are`]),
    ...(memorySize === undefined
      ? []
      : [`memorySize: is ${memorySize}; allowed: only with compute lambda, since a shard of tasks has one vCPU`]),
  ];
}

function tooLargeEnvironment(props: ProbeletProps): readonly string[] {
  const bytes = chosenBytes(props);
  if (bytes <= chosenBytesMax) return [];
  return [
    `secrets, allowCidrs, canaries, execRunner: take ${bytes} bytes of the prober's environment; allowed: ${chosenBytesMax} together, since Lambda takes 4096 and some are for names that AWS gives`,
  ];
}

type Least = { readonly least: number; readonly reason: string };

const tooFew = (prop: string, value: number | undefined, { least, reason }: Least): readonly string[] =>
  value !== undefined && value < least ? [`${prop}: is ${value}; allowed: at least ${least} (${reason})`] : [];

const leastConcurrency = (props: ProbeletProps): number => proberConcurrencyOf(layoutOf(props));

const shardsOf = (props: ProbeletProps): number => layoutOf(props).shards.length;
