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
  /** The prober's own, to an endpoint that its operator named: the dial policy does not apply to it. */
  readonly own?: boolean;
  /** Absent: the socket is not counted. */
  readonly permit?: SocketPermit;
};

/**
 * Permission to have one socket open at a time. A destroyed socket closes a turn of the event loop later and counts until then, so the
 * next dial under the same permit waits for it. Permits come from the process's socket budget (shared/manager/room.ts).
 */
export type SocketPermit = {
  /** Resolves once the permit's socket has closed; undefined: none is open. */
  closing(): Promise<void> | undefined;
  /** Called when a socket is created; the returned function is called when it has closed. */
  opened(): () => void;
  /** Called before code that runs on behalf of the permit's owner after a wait (shared/lib/attribution.ts). Absent: nobody asks. */
  readonly resumes?: (() => void) | undefined;
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

/** Why a host is never dialed, whatever happens; undefined: it may be, or it is a name, whose addresses are judged when it is dialed. */
export type DialRefusal = (host: string) => string | undefined;
