/**
 * Divides the file descriptors of a process between probes and the API. Nothing works at the limit, so each has a share
 * that the other cannot use.
 */
import { readFileSync } from 'node:fs';
import { descriptorsMax as probeDescriptorsMax } from '../../../shared/core/self/sockets.ts';

export type DescriptorShares = {
  /** Descriptors for probes. */
  readonly probesMax: number;
  /** Connections to the API. */
  readonly connectionsMax: number;
  /** How many of the connections may be watches, which are long-lived. */
  readonly watchersMax: number;
};

export type DescriptorNeeds = {
  /** Descriptors for the process itself: files, the event loop, sockets to its services. */
  readonly reserved: number;
  /** Upper bound for API connections. */
  readonly connectionsMax: number;
};

/** Connections to the port of `/healthz`, which are among the reserved. */
export const supervisorsMax = 8;
/**
 * For `npm start`: its files, the watchdog, supervisors, and the 40 sockets of its DNS client (shared/dns/udp-pool.ts,
 * tcp.ts).
 */
export const aloneNeeds: DescriptorNeeds = { reserved: 72 + supervisorsMax, connectionsMax: 512 };
/** A control process also has the sockets of the AWS clients, but no probes. */
export const controlNeeds: DescriptorNeeds = { reserved: 300 + supervisorsMax, connectionsMax: 512 };
/** A worker serves `/healthz` and `/metrics` only. */
export const workerNeeds: DescriptorNeeds = { reserved: 300 + supervisorsMax, connectionsMax: 16 };

/** The share of watches among API connections. */
const watchersPart = 1 / 2;
const watchersMaxDefault = 100;
/** The API's share of the descriptors that the process itself does not need. */
const apiPart = 1 / 4;
/** With a low limit, the process itself takes at most this share. */
const reservedPartMax = 1 / 2;

export function descriptorShares(limit: number, { reserved, connectionsMax }: DescriptorNeeds): DescriptorShares {
  const shared = limit - Math.min(reserved, Math.ceil(limit * reservedPartMax));
  const connections = Math.max(1, Math.min(connectionsMax, Math.floor(shared * apiPart)));
  return {
    connectionsMax: connections,
    watchersMax: Math.min(watchersMaxDefault, Math.floor(connections * watchersPart)),
    probesMax: Math.max(1, Math.min(probeDescriptorsMax, shared - connections)),
  };
}

/** The limit that Node sets for itself unless the system imposes another. */
const limitDefault = 1_024;

/** Returns RLIMIT_NOFILE of this process, from /proc on Linux and from Node's report elsewhere. */
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
