/**
 * Names to addresses by DNS. Not `dns.lookup`, which has four threads, so that four dead names delay every other probe by many seconds, and
 * not c-ares, whose time grows faster than a hostile answer. See docs/adr/0055-own-dns-client.md.
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

/** A resolution with the time for which it may be kept; 0: not at all. */
export type DnsAnswer = { readonly resolution: Resolution; readonly ttlMs: number };

export type DnsOptions = {
  readonly clock: Clock;
  /** `address` or `address:port`; default: the machine's. */
  readonly servers?: readonly string[];
  /** How to ask which servers, looked at for each lookup. Default: the servers above, or what the machine's file says. */
  readonly config?: () => DnsConfig;
  /** Ids of questions. Default: unpredictable, so that nobody can forge an answer unseen. */
  readonly below?: Below;
};

/** No answer after this long is the resolver's trouble. */
export const dnsTimeoutMs = 500;
/** One family has answered: how long the other is waited for (RFC 8305, section 3). */
const resolutionDelayMs = 50;
/** A lost packet is asked again after this, or sooner, so that each of several servers is asked within the limit. */
const tryMsMax = 200;

export type Dns = (name: string) => Promise<DnsAnswer>;

/** Asks for A and AAAA side by side. IPv4 addresses come first: a machine without IPv6 loses nothing by it. */
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

/** `address`, `address:port` or `[address]:port`. */
function serverOf(text: string): Server {
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  return { address: bracketed ?? plain ?? text, port: port === undefined ? dnsPort : Number(port) };
}

function rotated(servers: DnsConfig['servers'], by: number): DnsConfig['servers'] {
  const first = by % Math.max(1, servers.length);
  return [...servers.slice(first), ...servers.slice(0, first)];
}

/** Both families of a lookup use one socket to a server. */
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

/** What each family has come to when both have answered, or when it is time. */
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
    let cancel = clock.setTimer(dnsTimeoutMs, finish);
    const take = (at: number) => (answer: Answer) => {
      answers[at] = answer;
      open -= 1;
      if (open === 0) return finish();
      if (answer.kind !== 'addresses') return;
      cancel();
      cancel = clock.setTimer(resolutionDelayMs, finish);
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
  return { resolution: { kind: 'unavailable', message: failed.message }, ttlMs: 0 };
}
