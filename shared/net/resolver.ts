/**
 * Resolves names to address literals as Go's resolver does on kubelet's machine: the hosts file first, then DNS, with a
 * small cache.
 */
import { isIP } from 'node:net';
import type { Clock } from '../lib/clock.ts';
import { type Dns, type DnsAnswer, dns, dnsTimeoutMs } from './dns.ts';
import { isDomainName, withoutRootDot } from './domain-name.ts';
import { hostsFile } from './hosts-file.ts';
import type { Resolution, Resolve } from './net.ts';

export type ResolverOptions = {
  readonly clock: Clock;
  /** DNS servers as `address` or `address:port`. Defaults to the system's servers. */
  readonly servers?: readonly string[];
  /** Resolves names that are not in the hosts file. Defaults to DNS with `servers`. */
  readonly ask?: Dns;
  /** Defaults to `/etc/hosts`. */
  readonly hostsPath?: string;
};

/** Caps the TTL of a record, so that a target that moved is found again after this time. */
const cachedMaxMs = 30_000;
const cacheEntriesMax = 10_000;

/**
 * Returns a resolver that never throws. Lookups are independent and end after 500 ms, so a dead name does not delay
 * others.
 */
export function resolver(options: ResolverOptions): Resolve {
  const hosts = hostsFile(options.hostsPath ?? '/etc/hosts', options.clock);
  const lookUp = cachedDns(options);
  return async (host, deadlineMs) => {
    if (isIP(host) !== 0) return { kind: 'resolved', addresses: [host] };
    const name = host.toLowerCase();
    const addresses = hosts(name);
    if (addresses !== undefined) return { kind: 'resolved', addresses };
    return isDomainName(name) ? lookUp(withoutRootDot(name), deadlineMs) : noName;
  };
}

const noName: Resolution = { kind: 'notFound', message: 'no such host' };

type CacheEntry = { readonly resolution: Resolution; readonly untilMs: number };

/** Caches answers for their TTL. Concurrent lookups of one name share an answer. */
function cachedDns({ clock, servers, ask = dns({ clock, ...(servers && { servers }) }) }: ResolverOptions): Resolve {
  const cache = new Map<string, CacheEntry>();
  const underWay = new Map<string, Promise<Resolution>>();
  const keep = (name: string, { resolution, ttlMs }: DnsAnswer): Resolution => {
    underWay.delete(name);
    cache.delete(name);
    if (cache.size >= cacheEntriesMax) cache.delete(cache.keys().next().value ?? '');
    if (ttlMs > 0) cache.set(name, { resolution, untilMs: clock.monotonicMs() + Math.min(ttlMs, cachedMaxMs) });
    return resolution;
  };
  return (name, deadlineMs) => {
    const nowMs = clock.monotonicMs();
    const known = cache.get(name);
    if (known !== undefined && known.untilMs > nowMs) return Promise.resolve(known.resolution);
    const asked = underWay.get(name) ?? ask(name).then((answer) => keep(name, answer));
    underWay.set(name, asked);
    return deadlineMs - nowMs >= dnsTimeoutMs ? asked : within(deadlineMs - nowMs, asked, clock);
  };
}

/** The shared lookup may end after this caller's deadline. */
function within(limitMs: number, asked: Promise<Resolution>, clock: Clock): Promise<Resolution> {
  return new Promise((resolve) => {
    const cancel = clock.setTimer(limitMs, () => resolve({ kind: 'unavailable', message: 'i/o timeout' }));
    void asked.then((resolution) => {
      cancel();
      resolve(resolution);
    });
  });
}
