/**
 * Resolves names by DNS. `dns.lookup` uses four threads, so four dead names would delay all other probes by many
 * seconds; c-ares needs more than linear time for a hostile answer. See docs/design/protocols.md.
 */
import { randomInt } from 'node:crypto';
import { askFamily, type FamilyPorts } from '../dns/family.ts';
import { recordType } from '../dns/query.ts';
import type { Answer } from '../dns/reply.ts';
import { configOf, type DnsConfig, dnsPort, resolvConf, resolvConfPath } from '../dns/resolv-conf.ts';
import { tcpPool } from '../dns/tcp.ts';
import { type UdpPool, udpPool } from '../dns/udp-pool.ts';
import type { Below, Server, UdpSocket } from '../dns/udp-socket.ts';
import type { Clock } from '../lib/clock.ts';
import type { Resolution } from './net.ts';

/** A resolution and how long it may be cached; 0 means not at all. */
export type DnsAnswer = { readonly resolution: Resolution; readonly ttlMs: number };

export type DnsOptions = {
  readonly clock: Clock;
  /** `address` or `address:port`. Defaults to the system's servers. */
  readonly servers?: readonly string[];
  /** The resolver configuration, read for each lookup. Defaults to `servers`, or else to `/etc/resolv.conf`. */
  readonly config?: () => DnsConfig;
  /** Generates query ids. Defaults to an unpredictable source, which makes answers hard to forge. */
  readonly below?: Below;
};

/** A lookup without an answer after this time is a prober error. */
export const dnsTimeoutMs = 500;
/**
 * The longest wait before a lost packet is sent again. With several servers the wait is shorter, so that each is asked
 * within the limit.
 */
const tryMsMax = 200;

export type Dns = (name: string) => Promise<DnsAnswer>;

/** Queries A and AAAA in parallel. The answer lists IPv4 addresses first; the dialer sorts them. */
export function dns({ clock, servers, below = randomInt, config = configFor(servers, clock) }: DnsOptions): Dns {
  const udp = udpPool(below);
  const tcp = tcpPool();
  let lookups = 0;
  return async (name) => {
    const { rotate, tcpOnly, attempts, ...known } = config();
    const inOrder = rotate ? rotated(known.servers, lookups++) : known.servers;
    const sockets = lookupSockets(udp);
    const tryMs = Math.min(tryMsMax, dnsTimeoutMs / (inOrder.length + 1));
    const udpTo = tcpOnly ? () => undefined : sockets.to;
    const answers = await bothFamilies(name, { clock, below, servers: inOrder, attempts, tryMs, udpTo, tcp });
    sockets.close();
    return merged(answers);
  };
}

function configFor(servers: DnsOptions['servers'], clock: Clock): () => DnsConfig {
  if (servers === undefined) return resolvConf(resolvConfPath, clock);
  const config = configOf(servers.map(serverOf));
  return () => config;
}

/** Parses `address`, `address:port` or `[address]:port`. */
function serverOf(text: string): Server {
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  return { address: bracketed ?? plain ?? text, port: port === undefined ? dnsPort : Number(port) };
}

function rotated(servers: DnsConfig['servers'], by: number): DnsConfig['servers'] {
  const first = by % Math.max(1, servers.length);
  return [...servers.slice(first), ...servers.slice(0, first)];
}

/** Both address families of a lookup share one socket to each server. */
function lookupSockets(pool: UdpPool) {
  const open = new Map<Server, UdpSocket>();
  return {
    to(server: Server): UdpSocket {
      const socket = open.get(server) ?? pool.open(server);
      open.set(server, socket);
      return socket;
    },
    close() {
      for (const socket of open.values()) socket.close();
    },
  };
}

const timedOut: Answer = { kind: 'failed', message: 'i/o timeout' };

/**
 * Returns each family's answer once both have answered or the time is up. Like Go, it does not settle for the first
 * one: which address is dialed first would depend on which answer came sooner.
 */
function bothFamilies(name: string, ports: FamilyPorts): Promise<readonly Answer[]> {
  const { clock } = ports;
  return new Promise((resolve) => {
    const answers = [timedOut, timedOut];
    let open = answers.length;
    const finish = () => {
      cancel();
      for (const end of ends) end();
      resolve(answers);
    };
    const cancel = clock.setTimer(dnsTimeoutMs, finish);
    const take = (at: number) => (answer: Answer) => {
      answers[at] = answer;
      open -= 1;
      if (open === 0) finish();
    };
    const ends = [recordType.a, recordType.aaaa].map((type, at) => askFamily({ name, type }, ports, take(at)));
  });
}

function merged(answers: readonly Answer[]): DnsAnswer {
  const found = answers.filter((answer) => answer.kind === 'addresses');
  if (found.length > 0) {
    const addresses = [...new Set(found.flatMap((answer) => answer.addresses))];
    const ttlMs = Math.min(...found.map(({ ttlSeconds }) => ttlSeconds)) * 1000;
    return { resolution: { kind: 'resolved', addresses }, ttlMs };
  }
  const failed = answers.find((answer) => answer.kind === 'failed');
  if (failed === undefined) return { resolution: { kind: 'notFound', message: 'no such host' }, ttlMs: 0 };
  const { message, code } = failed;
  return { resolution: { kind: 'unavailable', message, ...(code !== undefined && { code }) }, ttlMs: 0 };
}
