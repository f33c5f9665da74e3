/**
 * The system's DNS servers and resolver options: `/etc/resolv.conf`, read as Go's resolver reads it (net,
 * dnsconfig_unix.go).
 */
import { isIP } from 'node:net';
import type { Clock } from '../lib/clock.ts';
import { parsedFile } from '../lib/parsed-file.ts';
import type { Server } from './udp-socket.ts';

export type DnsConfig = {
  /** In the order in which they are asked. */
  readonly servers: readonly Server[];
  /** How often each server is asked. */
  readonly attempts: number;
  /** Each lookup starts with a different server. */
  readonly rotate: boolean;
  /** Use TCP only, for networks that block UDP. */
  readonly tcpOnly: boolean;
};

export const resolvConfPath = '/etc/resolv.conf';
export const dnsPort = 53;

const serversMax = 3;
const attemptsDefault = 2;
/** The C library's limit. Go has none, but a lookup has no time for more attempts. */
const attemptsMax = 5;
const fileBytesMax = 64 * 1024;

const defaults: DnsConfig = {
  servers: ['127.0.0.1', '::1'].map((address) => ({ address, port: dnsPort })),
  attempts: attemptsDefault,
  rotate: false,
  tcpOnly: false,
};

/** Returns the default configuration with these servers instead of the system's. */
export const configOf = (servers: readonly Server[]): DnsConfig => ({ ...defaults, servers });

/**
 * Returns a function that gives the file's configuration, checked every 5 s. If the file is missing, the servers are on
 * loopback.
 */
export const resolvConf = (path: string, clock: Clock): (() => DnsConfig) =>
  parsedFile({ path, clock, bytesMax: fileBytesMax, parse: parsedResolvConf, missing: defaults });

/**
 * Ignores `search`, `domain` and `ndots`, because names are always absolute, and `timeout`, because a lookup has half a
 * second. Skips unknown lines and options.
 */
export function parsedResolvConf(text: string): DnsConfig {
  const lines = text.split('\n').filter((line) => !/^[;#]/.test(line));
  const fields = lines.map((line) => line.split(/[ \r\t]+/).filter((field) => field !== ''));
  const servers = fields.flatMap(([keyword, address = '']) =>
    keyword === 'nameserver' && isIP(address) !== 0 ? [{ address, port: dnsPort }] : [],
  );
  const options = fields.flatMap(([keyword, ...rest]) => (keyword === 'options' ? rest : []));
  return {
    servers: servers.length === 0 ? defaults.servers : servers.slice(0, serversMax),
    attempts: attemptsIn(options),
    rotate: options.includes('rotate'),
    tcpOnly: options.some((option) => tcpOptions.has(option)),
  };
}

const tcpOptions: ReadonlySet<string> = new Set(['use-vc', 'usevc', 'tcp']);

/** The last `attempts` option counts; a value that is not a number counts as 0. */
function attemptsIn(options: readonly string[]): number {
  const option = options.findLast((each) => each.startsWith('attempts:'));
  if (option === undefined) return attemptsDefault;
  const attempts = Number(/^attempts:(\d{1,9})/.exec(option)?.[1] ?? 0);
  return Math.min(Math.max(attempts, 1), attemptsMax);
}
