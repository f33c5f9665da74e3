/**
 * DNS through c-ares. Not `dns.lookup`: that has four threads, and four dead names delay every other probe by many seconds.
 */
import type { RecordWithTtl } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { Clock } from '../lib/clock.ts';
import type { Resolution } from './net.ts';

/** A resolution with the time for which it may be kept; 0: not at all. */
export type DnsAnswer = { readonly resolution: Resolution; readonly ttlMs: number };

export type DnsOptions = {
  readonly clock: Clock;
  /** `address` or `address:port`; default: the machine's. */
  readonly servers?: readonly string[];
};

/** No answer after this long is the resolver's trouble. */
export const dnsTimeoutMs = 500;
/** One family has answered: how long the other is waited for (RFC 8305, section 3). */
const resolutionDelayMs = 50;
/** Per try, of which there are two: a lost packet is asked again within the limit. */
const tryTimeoutMs = 200;
/** c-ares reads the machine's servers once; after a failure it may be the network that changed, so they are read again, this often. */
const rereadServersMs = 5000;

export type Dns = (name: string) => Promise<DnsAnswer>;

/** Asks for A and AAAA side by side. IPv4 addresses come first: a machine without IPv6 loses nothing by it. */
export function dns(options: DnsOptions): Dns {
  const channel = dnsChannel(options);
  return async (name) => {
    const answers = await bothFamilies(channel.resolver(), name, options.clock);
    const answer = merged(answers);
    if (answer.resolution.kind === 'unavailable') channel.doubt();
    return answer;
  };
}

function dnsChannel({ clock, servers }: DnsOptions) {
  let resolver = newResolver(servers);
  let bornMs = clock.monotonicMs();
  return {
    resolver: () => resolver,
    doubt: () => {
      if (clock.monotonicMs() - bornMs < rereadServersMs) return;
      resolver = newResolver(servers);
      bornMs = clock.monotonicMs();
    },
  };
}

function newResolver(servers: readonly string[] | undefined): Resolver {
  const resolver = new Resolver({ timeout: tryTimeoutMs, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return resolver;
}

/** What one family said: records, or the code of c-ares; absent: nothing in time. */
type FamilyAnswer = readonly RecordWithTtl[] | string;

function bothFamilies(resolver: Resolver, name: string, clock: Clock): Promise<readonly FamilyAnswer[]> {
  return new Promise((resolve) => {
    const answers: FamilyAnswer[] = ['ETIMEOUT', 'ETIMEOUT'];
    let open = answers.length;
    const finish = () => {
      cancel();
      resolve([...answers]);
    };
    let cancel = clock.setTimer(dnsTimeoutMs, finish);
    const take = (at: number) => (answer: FamilyAnswer) => {
      answers[at] = answer;
      open -= 1;
      if (open === 0) return finish();
      if (typeof answer === 'string') return;
      cancel();
      cancel = clock.setTimer(resolutionDelayMs, finish);
    };
    resolver.resolve4(name, { ttl: true }).then(take(0), codeOf(take(0)));
    resolver.resolve6(name, { ttl: true }).then(take(1), codeOf(take(1)));
  });
}

const codeOf = (take: (code: string) => void) => (error: NodeJS.ErrnoException) => take(error.code ?? 'EUNKNOWN');

/** The name is wrong or has no address: the target's trouble. Any other code is the resolver's. */
const notFoundCodes: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

function merged(answers: readonly FamilyAnswer[]): DnsAnswer {
  const records = answers.flatMap((answer) => (typeof answer === 'string' ? [] : answer));
  if (records.length > 0) return { resolution: resolved(records), ttlMs: shortestTtlMs(records) };
  const trouble = answers.find((answer) => typeof answer === 'string' && !notFoundCodes.has(answer));
  if (trouble === undefined) return { resolution: { kind: 'notFound', message: 'no such host' }, ttlMs: 0 };
  const message = trouble === 'ETIMEOUT' ? 'i/o timeout' : 'server misbehaving';
  return { resolution: { kind: 'unavailable', message }, ttlMs: 0 };
}

function resolved(records: readonly RecordWithTtl[]): Resolution {
  return { kind: 'resolved', addresses: [...new Set(records.map((record) => record.address))] };
}

function shortestTtlMs(records: readonly RecordWithTtl[]): number {
  return Math.min(...records.map((record) => record.ttl)) * 1000;
}
