/**
 * Maps the system error code of a failed dial to a failure class and to the text that Go, and therefore kubelet, shows.
 */
import { isIPv6 } from 'node:net';
import type { DialFailure } from './net.ts';

type FailureClass = DialFailure['failureClass'];

/**
 * Unlisted codes count as a failure of the target. Only codes that are known to come from the prober's machine are
 * prober errors.
 */
const causes: Readonly<Record<string, readonly [failureClass: FailureClass, text: string]>> = {
  ECONNREFUSED: ['CONNECT_REFUSED', 'connect: connection refused'],
  ECONNRESET: ['CONNECT_RESET', 'connect: connection reset by peer'],
  ECONNABORTED: ['CONNECT_RESET', 'connect: software caused connection abort'],
  ETIMEDOUT: ['CONNECT_TIMEOUT', 'connect: connection timed out'],
  EHOSTUNREACH: ['CONNECT_UNREACHABLE', 'connect: no route to host'],
  EHOSTDOWN: ['CONNECT_UNREACHABLE', 'connect: host is down'],
  ENETUNREACH: ['CONNECT_UNREACHABLE', 'connect: network is unreachable'],
  ENETDOWN: ['PROBER', 'connect: network is down'],
  EACCES: ['PROBER', 'connect: permission denied'],
  EPERM: ['PROBER', 'connect: operation not permitted'],
  EADDRNOTAVAIL: ['PROBER', 'connect: cannot assign requested address'],
  EADDRINUSE: ['PROBER', 'connect: address already in use'],
  EAGAIN: ['PROBER', 'connect: resource temporarily unavailable'],
  EAFNOSUPPORT: ['PROBER', 'socket: address family not supported by protocol'],
  EMFILE: ['PROBER', 'socket: too many open files'],
  ENFILE: ['PROBER', 'socket: too many open files in system'],
  ENOBUFS: ['PROBER', 'socket: no buffer space available'],
  ENOMEM: ['PROBER', 'socket: cannot allocate memory'],
};

/** Joins `host:port` as Go does, with brackets around an IPv6 address. */
export const hostPort = (host: string, port: number): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;

export function connectFailure(address: string, port: number, code: string): DialFailure {
  const [failureClass, text] = causes[code] ?? (['CONNECT_UNREACHABLE', `connect: ${code}`] as const);
  return { kind: 'failed', failureClass, code, message: `dial tcp ${hostPort(address, port)}: ${text}` };
}

export function connectTimeout(address: string, port: number): DialFailure {
  const message = `dial tcp ${hostPort(address, port)}: i/o timeout`;
  return { kind: 'failed', failureClass: 'CONNECT_TIMEOUT', message };
}

export function dialFailure(failureClass: FailureClass, text: string): DialFailure {
  return { kind: 'failed', failureClass, message: `dial tcp: ${text}` };
}

export function deniedDial(host: string, port: number): DialFailure {
  const message = `dial tcp ${hostPort(host, port)}: denied by the dial policy`;
  return { kind: 'failed', failureClass: 'POLICY_DENIED', message };
}
