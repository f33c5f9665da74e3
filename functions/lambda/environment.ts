/**
 * The functions' configuration. This is the only place on AWS that reads the environment. It is read once, when a
 * function starts. If variables are wrong or missing, the function does not start, and the error names each of them.
 */
import { functionMb } from '../../shared/core/shards/layout.ts';
import { fleetLimits, type QuotaLimits } from '../../shared/core/shards/quota.ts';
import type { SecretHosts } from '../../shared/core/spec/secret-hosts.ts';
import type { Canary } from '../../shared/holder/run.ts';
import { didYouMean, readCidr } from '../../shared/net/cidr.ts';
import { canaryOf } from '../canary.ts';
import { secretHostsOf } from '../secret-variable.ts';

export type Environment = {
  readonly table: string;
  readonly bus: string;
  readonly shardQueueUrl: string;
  /** The release of the deployed code, which all runs should use. */
  readonly release: string;
  readonly mode: 'auto' | 'resident' | 'tick';
  /** Private ranges that may be dialed. */
  readonly allowCidrs: readonly string[];
  /** For an emulator, where the targets run on the same machine. */
  readonly allowLoopback: boolean;
  /** Endpoints that answer as long as the prober's network works. */
  readonly canaries: readonly Canary[];
  /** The secrets that probe headers may refer to, and the hosts to which each may be sent. */
  readonly secretHosts: SecretHosts;
  /** ARNs of the functions that exec probes may name, by name. */
  readonly execFunctions: ReadonlyMap<string, string>;
  /** The names alone, for a function that does not call them. */
  readonly execNames: ReadonlySet<string>;
  /** Whether exec probes may run commands on instances. */
  readonly execSsm: boolean;
  /** Whether HTTPS probes resume TLS sessions. */
  readonly tlsSessionResumption: boolean;
  /** The prober's memory in MB. */
  readonly capacityMb: number;
  /** The limits for registrations. */
  readonly quotas: QuotaLimits;
  readonly stage: string;
  /** Whether all values that functions count become metrics. */
  readonly detailedMetrics: boolean;
  readonly region: string;
};

type Variables = { readonly [name: string]: string | undefined };

/** Variables are wrong or missing. The message names each of them and its valid values. */
export class InvalidEnvironment extends Error {
  override readonly name = 'InvalidEnvironment';
}

/** The stage of an emulator on one machine, which must not be reachable from elsewhere. */
export const emulatorStage = 'emulator';

/** Reads only the requested settings, since each function has only some of the variables. */
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

/** Returns the endpoint of a service that is called without an SDK client. SDK clients find theirs themselves. */
export function serviceEndpoint(service: string, region: string, variables: Variables = process.env): string {
  const own = variables[`AWS_ENDPOINT_URL_${service.toUpperCase().replaceAll('-', '_')}`];
  return own ?? variables.AWS_ENDPOINT_URL ?? `https://${hostOf(service, region)}`;
}

/** Changes with each invocation. Undefined if the invocation is not traced. */
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
  tlsSessionResumption: (variables) => flag(variables, 'PROBELET_TLS_SESSION_RESUMPTION'),
  capacityMb: (variables) => megabytes(required(variables, 'PROBELET_CAPACITY_MB')),
  quotas: quotasOf,
  stage: (variables) => stageOf(variables),
  detailedMetrics: (variables) => flag(variables, 'PROBELET_DETAILED_METRICS'),
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

/** The stage is a dimension of every metric. */
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

/** Defaults to the limits of a default deployment, so that there is always a limit. */
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

/** Defaults to the services that every run needs. An endpoint configured for the SDK clients applies here as well. */
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

/** The part of Lambda's invocation context that the functions use. */
export type InvocationContext = {
  readonly awsRequestId: string;
  /** Returns the time until Lambda ends the invocation by force, in ms. */
  getRemainingTimeInMillis(): number;
};
