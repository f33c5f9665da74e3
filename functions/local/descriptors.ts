/**
 * How the probes and the API of one process share its descriptors. At the limit nothing works any more, so each has a part that the other
 * cannot take.
 */
import { readFileSync } from 'node:fs';
import { descriptorsMax as probeDescriptorsMax } from '../../shared/core/room.ts';

export type DescriptorShares = {
  /** What probes may hold. */
  readonly probesMax: number;
  /** Connections to the API. */
  readonly connectionsMax: number;
  /** Those of them that may be watches, which last. */
  readonly watchersMax: number;
};

export type DescriptorNeeds = {
  /** What the process itself needs: files, the event loop, sockets to its services. */
  readonly own: number;
  /** More connections than this the API never has. */
  readonly connectionsMax: number;
};

/** `npm start`: its files, the watchdog, and the 40 sockets of its DNS client (shared/dns/udp-pool.ts, tcp.ts). */
export const aloneNeeds: DescriptorNeeds = { own: 72, connectionsMax: 512 };
/** A control process has the sockets of the AWS clients, too, and no probes. */
export const controlNeeds: DescriptorNeeds = { own: 300, connectionsMax: 512 };
/** A worker serves `/healthz` and `/metrics` only. */
export const workerNeeds: DescriptorNeeds = { own: 300, connectionsMax: 16 };

/** Of the connections to the API. */
const watchersPart = 1 / 2;
const watchersMaxDefault = 100;
/** Of what the process itself does not need. */
const apiPart = 1 / 4;
/** Where there are few descriptors, the process itself has at most this part of them. */
const ownPartMax = 1 / 2;

export function descriptorShares(limit: number, { own, connectionsMax }: DescriptorNeeds): DescriptorShares {
  const shared = limit - Math.min(own, Math.ceil(limit * ownPartMax));
  const connections = Math.max(1, Math.min(connectionsMax, Math.floor(shared * apiPart)));
  return {
    connectionsMax: connections,
    watchersMax: Math.min(watchersMaxDefault, Math.floor(connections * watchersPart)),
    probesMax: Math.max(1, Math.min(probeDescriptorsMax, shared - connections)),
  };
}

/** What Node raises its limit to where the system sets no other. */
const limitDefault = 1_024;

/** RLIMIT_NOFILE of this process. Linux says it in a file, elsewhere Node's report knows it. */
export function descriptorLimit(): number {
  const soft = ofLinux() ?? ofReport();
  if (soft === 'unlimited') return Number.POSITIVE_INFINITY;
  const limit = Number(soft);
  return limit > 0 ? limit : limitDefault;
}

function ofLinux(): string | undefined {
  try {
    return /^Max open files +(\w+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

function ofReport(): unknown {
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  return userLimits?.open_files?.soft;
}
