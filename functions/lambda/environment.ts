/**
 * What the deployment tells its functions: the one place on AWS that reads the environment. Read once, when a function starts; what is
 * wrong or missing is an error that names every such variable, and then the function does not start at all.
 */
import { functionMb } from '../../shared/core/layout.ts';
import { fleetLimits, type QuotaLimits } from '../../shared/core/quota.ts';
import type { SecretHosts } from '../../shared/core/secret-hosts.ts';
import type { Canary } from '../../shared/manager/ports.ts';
import { didYouMean, readCidr } from '../../shared/net/cidr.ts';
import { canaryOf } from '../canary.ts';
import { secretHostsOf } from '../secret-variable.ts';

export type Environment = {
  readonly table: string;
  readonly bus: string;
  readonly shardQueueUrl: string;
  /** Of the code that is deployed; all runs are to be of this one. */
  readonly release: string;
  readonly mode: 'auto' | 'resident' | 'tick';
  /** Private ranges that may be dialed. */
  readonly allowCidrs: readonly string[];
  /** On an emulator the targets are on the same machine. */
  readonly allowLoopback: boolean;
  /** What answers for as long as the prober's own network is all right. */
  readonly canaries: readonly Canary[];
  /** What probe headers may refer to, and where each of it may be sent. */
  readonly secretHosts: SecretHosts;
  /** Functions that exec probes may name, by ARN. */
  readonly execFunctions: ReadonlyMap<string, string>;
  /** Their names alone, for a function that calls none of them. */
  readonly execNames: ReadonlySet<string>;
  /** Whether exec probes may run commands on instances. */
  readonly execSsm: boolean;
  /** Memory of the prober. */
  readonly capacityMb: number;
  /** What may be registered. */
  readonly quotas: QuotaLimits;
  readonly stage: string;
  readonly region: string;
};

type Variables = { readonly [name: string]: string | undefined };

/** Some variable is wrong or missing; the message names each of them and what it has to be. */
export class InvalidEnvironment extends Error {
  override readonly name = 'InvalidEnvironment';
}

/** A stage of this name is on one machine; nothing of it may be reached from outside. */
export const emulatorStage = 'emulator';

/** Only what is asked for is looked at: each function has its own part of the variables. */
export function readEnvironment<Name extends keyof Environment>(
  names: readonly Name[],
  variables: Variables = process.env,
): Pick<Environment, Name> {
  const problems: string[] = [];
  const entries = names.map((name) => {
    try {
      return [name, readers[name](variables)];
    } catch (error) {
      if (!(error instanceof InvalidVariable)) throw error;
      problems.push(error.message);
      return [name, undefined];
    }
  });
  if (problems.length > 0) throw new InvalidEnvironment(problems.join('; '));
  return Object.fromEntries(entries);
}

/** Where a service is that has no client of its own here; the clients of the SDK find out for themselves. */
export function serviceEndpoint(service: string, region: string, variables: Variables = process.env): string {
  const own = variables[`AWS_ENDPOINT_URL_${service.toUpperCase().replaceAll('-', '_')}`];
  return own ?? variables.AWS_ENDPOINT_URL ?? `https://${hostOf(service, region)}`;
}

/** Changes with each invocation; absent when nothing is traced. */
export const traceHeader = (): string | undefined => process.env._X_AMZN_TRACE_ID;

class InvalidVariable extends Error {}

const readers: { readonly [Name in keyof Environment]: (variables: Variables) => Environment[Name] } = {
  table: (variables) => required(variables, 'PROBELET_TABLE'),
  bus: (variables) => required(variables, 'PROBELET_BUS'),
  shardQueueUrl: (variables) => queueUrl(required(variables, 'PROBELET_SHARD_QUEUE_URL')),
  release: (variables) => required(variables, 'PROBELET_RELEASE'),
  mode: (variables) => modeOf(required(variables, 'PROBELET_MODE')),
  allowCidrs: (variables) => listOf(variables.PROBELET_ALLOW_CIDRS).map(cidr),
  allowLoopback,
  canaries,
  secretHosts: (variables) => secretHosts(variables.PROBELET_SECRETS),
  execFunctions: (variables) => execFunctions(variables.PROBELET_EXEC_FUNCTIONS || '{}'),
  execNames: (variables) => new Set(listOf(variables.PROBELET_EXEC_NAMES).map(execName)),
  execSsm: (variables) => flag(variables, 'PROBELET_EXEC_SSM'),
  capacityMb: (variables) => megabytes(required(variables, 'PROBELET_CAPACITY_MB')),
  quotas: quotasOf,
  stage: (variables) => stageOf(variables),
  region: (variables) => required(variables, 'AWS_REGION'),
};

function required(variables: Variables, name: string): string {
  const value = variables[name];
  if (!value) throw new InvalidVariable(`${name} is missing`);
  return value;
}

const wrong = (name: string, value: string, allowed: string): InvalidVariable =>
  new InvalidVariable(`${name} is ${JSON.stringify(value)}: it has to be ${allowed}`);

function queueUrl(value: string): string {
  if (!URL.canParse(value)) throw wrong('PROBELET_SHARD_QUEUE_URL', value, 'the URL of a queue');
  return value;
}

function modeOf(value: string): Environment['mode'] {
  if (value === 'auto' || value === 'resident' || value === 'tick') return value;
  throw wrong('PROBELET_MODE', value, 'auto, resident or tick');
}

const listOf = (text: string | undefined): readonly string[] =>
  (text ?? '').split(',').flatMap((part) => part.trim() || []);

function cidr(value: string): string {
  if (readCidr(value).kind === 'range') return value;
  throw wrong('PROBELET_ALLOW_CIDRS', value, `ranges like 10.0.0.0/8, between commas${didYouMean([value])}`);
}

const stageDefault = 'default';

/** It is a dimension of every metric. */
function stageOf({ PROBELET_STAGE: value = stageDefault }: Variables): string {
  if (/^[\w.-]{1,64}$/.test(value)) return value;
  throw wrong('PROBELET_STAGE', value, '1 to 64 letters, digits, dots, dashes or underscores');
}

function allowLoopback(variables: Variables): boolean {
  const isSet = flag(variables, 'PROBELET_ALLOW_LOOPBACK');
  if (isSet && variables.PROBELET_STAGE !== emulatorStage)
    throw wrong('PROBELET_ALLOW_LOOPBACK', '1', `unset, unless PROBELET_STAGE is ${emulatorStage}`);
  return isSet;
}

function flag(variables: Variables, name: string): boolean {
  const value = variables[name] ?? '';
  if (value === '' || value === '0' || value === '1') return value === '1';
  throw wrong(name, value, '1 or unset');
}

/** Lambda's limits. */
const [megabytesMin, megabytesMax] = [128, 10_240];

function megabytes(value: string): number {
  const count = Number(value);
  if (Number.isInteger(count) && count >= megabytesMin && count <= megabytesMax) return count;
  throw wrong('PROBELET_CAPACITY_MB', value, `a whole number from ${megabytesMin} to ${megabytesMax}`);
}

const quotaVariables = {
  targetsMax: 'PROBELET_TARGETS_MAX',
  targetsPerNamespaceMax: 'PROBELET_TARGETS_PER_NAMESPACE_MAX',
  probesPerSecondMax: 'PROBELET_PROBES_PER_SECOND_MAX',
} as const;

/** Without a variable the limit is that of a default deployment: there is never none. */
function quotasOf(variables: Variables): QuotaLimits {
  const defaults = fleetLimits(functionMb);
  const limit = (name: keyof QuotaLimits): number => {
    const value = variables[quotaVariables[name]] || String(defaults[name]);
    if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
    throw wrong(quotaVariables[name], value, 'a whole number from 1 to 999999999');
  };
  return {
    targetsMax: limit('targetsMax'),
    targetsPerNamespaceMax: limit('targetsPerNamespaceMax'),
    probesPerSecondMax: limit('probesPerSecondMax'),
  };
}

/** Without any: what every run needs anyway. Where the clients are sent elsewhere, so is this. */
function canaries(variables: Variables): readonly Canary[] {
  const given = listOf(variables.PROBELET_CANARIES);
  if (given.length > 0) return given.map(requiredCanary);
  const region = required(variables, 'AWS_REGION');
  return ['dynamodb', 'sqs'].map((service) => {
    const { hostname, port, protocol } = new URL(serviceEndpoint(service, region, variables));
    return { host: hostname, port: Number(port) || (protocol === 'http:' ? 80 : 443) };
  });
}

function requiredCanary(value: string): Canary {
  const canary = canaryOf(value);
  if (canary) return canary;
  throw wrong('PROBELET_CANARIES', value, 'host:port, several between commas');
}

function secretHosts(text = ''): SecretHosts {
  const hosts = secretHostsOf(text);
  if (hosts) return hosts;
  throw wrong('PROBELET_SECRETS', text, 'references, each with its hosts behind it, between commas');
}

const functionArn = /^arn:aws[\w-]*:lambda:[a-z0-9-]+:\d{12}:function:[\w-]+(?::[\w$-]+)?$/;

const isExecName = (text: string): boolean => /^[\w-]{1,64}$/.test(text);

function execName(value: string): string {
  if (isExecName(value)) return value;
  throw wrong('PROBELET_EXEC_NAMES', value, 'names of 1 to 64 letters, digits, dashes or underscores, between commas');
}

function execFunctions(text: string): ReadonlyMap<string, string> {
  const parsed = parsedJson(text);
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  const entries = isObject ? Object.entries(parsed) : undefined;
  const isValid = entries?.every(([name, arn]) => isExecName(name) && functionArn.test(String(arn)));
  if (!entries || !isValid)
    throw wrong('PROBELET_EXEC_FUNCTIONS', text, 'a JSON object of names and the ARNs of their functions');
  return new Map(entries);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const hostOf = (service: string, region: string): string =>
  `${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
