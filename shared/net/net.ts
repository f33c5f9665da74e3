/**
 * The network port of all probers: one guarded dialer. It resolves the name, holds every address against the dial policy, dials the
 * checked address, and checks the peer once more after connecting; so a redirect, an odd spelling of an address or a rebinding name
 * cannot reach what the policy denies. See docs/adr and SECURITY.md.
 */
import type { Socket } from 'node:net';
import type { FailureClass } from '../core/types.ts';

export type DialRequest = {
  /** Name or address literal, without brackets. */
  readonly host: string;
  readonly port: number;
  /** On the clock's monotonic time. */
  readonly deadlineMs: number;
  /** The prober's own, to an endpoint that its operator named: neither the dial policy nor the shortage of sockets is in its way. */
  readonly own?: boolean;
};

/** Why there is no connection. `code` is the system's (`ECONNREFUSED`), for the text that kubelet would show. */
export type DialFailure = {
  readonly kind: 'failed';
  readonly failureClass: Extract<
    FailureClass,
    'DNS' | 'CONNECT_REFUSED' | 'CONNECT_RESET' | 'CONNECT_UNREACHABLE' | 'CONNECT_TIMEOUT' | 'POLICY_DENIED' | 'PROBER'
  >;
  readonly code?: string;
  readonly message: string;
  readonly dnsMs?: number;
};

export type Dialed = {
  readonly kind: 'connected';
  /** Nobody has read from it yet; whoever dialed destroys it. */
  readonly socket: Socket;
  readonly dnsMs?: number;
  readonly connectMs: number;
};

export type Dial = (request: DialRequest) => Promise<Dialed | DialFailure>;

/** Of a name's addresses: literals, in the order in which they are to be tried. */
export type Resolution =
  | { readonly kind: 'resolved'; readonly addresses: readonly string[] }
  /** NXDOMAIN or no data: the target's own trouble. */
  | { readonly kind: 'notFound'; readonly message: string }
  /** SERVFAIL, refused, time-out: the resolver's trouble, a prober error. */
  | { readonly kind: 'unavailable'; readonly message: string };

export type Resolve = (host: string, deadlineMs: number) => Promise<Resolution>;

/** May this address literal be dialed? */
export type DialPolicy = (address: string) => boolean;
