/** Names to address literals, as Go's resolver on kubelet's machine: the hosts file, then DNS with a small cache. */
import { isIP } from 'node:net';
import type { Clock } from '../lib/clock.ts';
import { type Dns, type DnsAnswer, dns, dnsTimeoutMs } from './dns.ts';
import { isDomainName, withoutRootDot } from './domain-name.ts';
import { hostsFile } from './hosts-file.ts';
import type { Resolution, Resolve } from './net.ts';

export type ResolverOptions = {
  readonly clock: Clock;
  /** DNS servers, `address` or `address:port`; default: the machine's. */
  readonly servers?: readonly string[];
  /** Who is asked for what the hosts file does not know; default: these servers. */
  readonly ask?: Dns;
  /** Default `/etc/hosts`. */
  readonly hostsPath?: string;
};

/** However long a record says it lives, a target that moved is found again after this. */
const cachedMaxMs = 30_000;
const cacheEntriesMax = 10_000;

/** A resolver that never throws. A dead name does not delay others: each lookup is on its own and ends after 500 ms. */
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

/** Keeps answers for their TTL, and lets lookups of one name that are under way share one answer. */
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

/** A shared lookup may have longer to go than this caller has. */
function within(limitMs: number, asked: Promise<Resolution>, clock: Clock): Promise<Resolution> {
  return new Promise((resolve) => {
    const cancel = clock.setTimer(limitMs, () => resolve({ kind: 'unavailable', message: 'i/o timeout' }));
    void asked.then((resolution) => {
      cancel();
      resolve(resolution);
    });
  });
}
