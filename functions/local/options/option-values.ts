/** Validates the values of `npm start`'s options. Each error names its option. */
import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { reachOf } from '../../../shared/core/self/health.ts';
import type { LayoutContext } from '../../../shared/core/shards/layout.ts';
import {
  type SecretHost,
  type SecretHosts,
  secretHost,
  secretReference,
} from '../../../shared/core/spec/secret-hosts.ts';
import { type AllowList, parseAllowList } from '../../../shared/exec/allow-list.ts';
import type { Canary } from '../../../shared/holder/run.ts';
import { readBounded, readFault } from '../../../shared/lib/bounded-file.ts';
import { canaryOf } from '../../canary.ts';
import { secretVariablePrefix } from '../process/environment-secrets.ts';

/** The message names the option and the error. */
export class InvalidOption extends Error {}

const tokenLengthMin = 16;
/** Of a file that an option or the configuration names. */
const optionFileBytesMax = 256 * 1_024;

export function validPort(option: string, text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidOption(`--${option}: ${text} is not a port (0 to 65535)`);
  return port;
}

export function validHost(host: string, token: string | undefined): string {
  if (isIP(host) === 0 && host !== 'localhost') throw new InvalidOption(`--host: ${host} is not an IP address`);
  const loopback = host === 'localhost' || host === '::1' || host.startsWith('127.');
  if (!loopback && token === undefined) {
    throw new InvalidOption(`--host: ${host} is reachable from elsewhere, so it needs --token-file FILE`);
  }
  return host;
}

export function validCount(option: string, text: string, max: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > max)
    throw new InvalidOption(`--${option}: ${text} is not a number from 1 to ${max}`);
  return count;
}

const shardModes: readonly LayoutContext['mode'][] = ['auto', 'resident', 'tick'];

export function validShardMode(text: string): LayoutContext['mode'] {
  const mode = shardModes.find((name) => name === text);
  if (mode === undefined) throw new InvalidOption(`--mode: ${text} is none of ${shardModes.join(', ')}`);
  return mode;
}

export function validCanary(text: string): Canary {
  const canary = canaryOf(text);
  if (canary === undefined) throw new InvalidOption(`--canary: ${text} is not HOST:PORT`);
  if (reachOf(canary.host) === 'loopback')
    throw new InvalidOption(`--canary: ${text} is on this machine, so it says nothing of its network`);
  return canary;
}

/** Returns the hosts by secret reference. A variable may have several hosts. */
export function validSecrets(texts: readonly string[]): SecretHosts {
  const hosts = new Map<string, readonly SecretHost[]>();
  for (const text of texts) {
    const [, name = '', hostText = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    const reference = `env:${name}`;
    const host = secretHost(hostText);
    // The error omits the value, which may be a secret given by mistake.
    if (!name.startsWith(secretVariablePrefix) || secretReference(reference) === undefined)
      throw new InvalidOption(
        `--secret: has to be NAME=HOST[:PORT], with a NAME that begins with ${secretVariablePrefix}`,
      );
    if (host === undefined)
      throw new InvalidOption(
        `--secret: ${name} needs a HOST or HOST:PORT behind =: a name, *.NAME, or an IP address, one of IPv6 in brackets`,
      );
    hosts.set(reference, [...(hosts.get(reference) ?? []), host]);
  }
  return hosts;
}

export function validUrl(option: string, text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new InvalidOption(`--${option}: ${text} is not an http or https URL`);
  return text;
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
