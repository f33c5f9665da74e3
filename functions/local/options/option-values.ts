/** What the texts of `npm start`'s options mean. Each error names its option, as `--port`. */
import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { CommanderError } from 'commander';
import { reachOf } from '../../../shared/core/self/health.ts';
import type { LayoutContext } from '../../../shared/core/shards/layout.ts';
import { type SecretHosts, secretHost, secretReference } from '../../../shared/core/spec/secret-hosts.ts';
import { type AllowList, parseAllowList } from '../../../shared/exec/allow-list.ts';
import type { Canary } from '../../../shared/holder/run.ts';
import { readBounded, readFault } from '../../../shared/lib/bounded-file.ts';
import { canaryOf } from '../../canary.ts';
import { secretVariablePrefix } from '../process/environment-secrets.ts';

/** The message names the option and the error. A command line ends with it as with an error of commander's. */
export class InvalidOption extends CommanderError {
  constructor(message: string) {
    super(exitUsage, 'probelet.invalidOption', message);
  }
}

/** The exit code of wrong use. */
export const exitUsage = 2;

const tokenLengthMin = 16;
/** The largest file that an option or the configuration may name. */
const optionFileBytesMax = 256 * 1_024;

export const text = (value: string): string => value;

export function textNotEmpty(value: string, option: string): string {
  if (value === '') throw new InvalidOption(`${option}: is empty`);
  return value;
}

export function port(value: string, option: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 65_535)
    throw new InvalidOption(`${option}: ${value} is not a port (0 to 65535)`);
  return number;
}

export function host(value: string, option: string): string {
  if (isIP(value) === 0 && value !== 'localhost') throw new InvalidOption(`${option}: ${value} is not an IP address`);
  return value;
}

export const isLoopback = (address: string): boolean =>
  address === 'localhost' || address === '::1' || address.startsWith('127.');

const number =
  (max: number) =>
  (value: string, option: string): number => {
    const count = Number(value);
    if (/^\d+$/.test(value) && count >= 1 && count <= max) return count;
    throw new InvalidOption(`${option}: ${value} is not a number from 1 to ${max}`);
  };

/** Of targets, or of probes a second. */
export const limit = number(10_000_000);

export const concurrencyMax = 64;
export const concurrency = number(concurrencyMax);

export const shardModes: readonly LayoutContext['mode'][] = ['resident', 'tick', 'auto'];

export function shardMode(value: string, option: string): LayoutContext['mode'] {
  const mode = shardModes.find((name) => name === value);
  if (mode === undefined) throw new InvalidOption(`${option}: ${value} is none of ${shardModes.join(', ')}`);
  return mode;
}

export function addCanary(value: string, option: string, before: readonly Canary[] = []): readonly Canary[] {
  const canary = canaryOf(value);
  if (canary === undefined) throw new InvalidOption(`${option}: ${value} is not HOST:PORT`);
  if (reachOf(canary.host) === 'loopback')
    throw new InvalidOption(`${option}: ${value} is on this machine, so it says nothing of its network`);
  return [...before, canary];
}

/** Adds a host of a secret reference. A variable may have several hosts. */
export function addSecretHost(value: string, option: string, before: SecretHosts = new Map()): SecretHosts {
  const [, name = '', hostText = ''] = /^([^=]*)=(.*)$/s.exec(value) ?? [];
  const reference = `env:${name}`;
  const added = secretHost(hostText);
  // The errors omit the value, which may be a secret given by mistake.
  if (!name.startsWith(secretVariablePrefix) || secretReference(reference) === undefined)
    throw new InvalidOption(
      `${option}: has to be NAME=HOST[:PORT], with a NAME that begins with ${secretVariablePrefix}`,
    );
  if (added === undefined)
    throw new InvalidOption(
      `${option}: ${name} needs a HOST or HOST:PORT behind =: a name, *.NAME, or an IP address, one of IPv6 in brackets`,
    );
  return new Map([...before, [reference, [...(before.get(reference) ?? []), added]]]);
}

/** Source: naming rules in the DynamoDB Developer Guide. */
export function tableName(value: string, option: string): string {
  if (/^[\w.-]{3,255}$/.test(value)) return value;
  throw new InvalidOption(`${option}: ${value} is not a table's name (3 to 255 letters, digits, _, - and .)`);
}

export function queueUrl(value: string, option: string): string {
  if (url(value, option).endsWith('.fifo')) return value;
  throw new InvalidOption(`${option}: ${value} is not a FIFO queue (its name ends in .fifo)`);
}

function url(value: string, option: string): string {
  const parsed = URL.parse(value);
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:')
    throw new InvalidOption(`${option}: ${value} is not an http or https URL`);
  return value;
}

const awsServiceNames = ['dynamodb', 'sqs', 'eventbridge'] as const;
export type AwsService = (typeof awsServiceNames)[number];
export type AwsEndpoints = { readonly [service in AwsService]?: string };

/** Adds `URL` for all services, or `SERVICE=URL`. */
export function addEndpoints(value: string, option: string, before: AwsEndpoints = {}): AwsEndpoints {
  const [, name, address = value] = /^([a-z]+)=(.*)$/.exec(value) ?? [];
  const valid = url(address, option);
  if (name === undefined) return Object.fromEntries(awsServiceNames.map((service) => [service, valid]));
  if (awsServiceNames.some((service) => service === name)) return { ...before, [name]: valid };
  throw new InvalidOption(`${option}: ${name} is none of ${awsServiceNames.join(', ')}`);
}

export function readToken(path: string): string {
  const token = readText('--token-file', path).trim();
  if (token.length < tokenLengthMin)
    throw new InvalidOption(`--token-file: the token in ${path} has fewer than ${tokenLengthMin} characters`);
  return token;
}

const othersMayReadOrWrite = 0o066;

/** Returns a warning about the token file's permissions, or undefined. */
export function tokenFileWarning(path: string): string | undefined {
  if ((statSync(path).mode & othersMayReadOrWrite) === 0) return undefined;
  return `--token-file: other users of this machine can read or write ${path}: close it to them with chmod 600 ${path}`;
}

export function readAllowList(path: string): AllowList {
  const parsed = parseAllowList(readText('--allow-exec', path));
  if (parsed.kind === 'invalid')
    throw new InvalidOption(`--allow-exec: ${path}, line ${parsed.line}: ${parsed.detail}`);
  return parsed.allows;
}

/** @throws InvalidOption also if it is no regular file, or has more than 256 KiB. */
export function readText(option: string, path: string): string {
  try {
    return readBounded(path, optionFileBytesMax).toString('utf8');
  } catch (error) {
    throw new InvalidOption(`${option}: ${path}: ${readFault(error)}`);
  }
}
