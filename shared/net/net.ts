/**
 * The network port of all probers: one guarded dialer. It resolves the name, checks every address against the dial
 * policy, dials a checked address, and checks the peer again after connecting. So a redirect, an unusual spelling of an
 * address or DNS rebinding cannot reach an address that the policy denies. See docs/design/protocols.md and
 * SECURITY.md.
 */
import type { Socket } from 'node:net';
import type { FailureClass } from '../core/spec/types.ts';

export type DialRequest = {
  /** A name, or an address literal without brackets. */
  readonly host: string;
  readonly port: number;
  /** On the clock's monotonic time. */
  readonly deadlineMs: number;
  /**
   * The end of the time that the addresses of a name share. Defaults to `deadlineMs`; infinite: each may take all of
   * the time, as in Go's HTTP client, whose dials know no deadline.
   */
  readonly dividedUntilMs?: number;
  /** Calls back at the deadline. If present, an address that has until then needs no timer of the dialer's. */
  readonly whenOver?: (call: () => void) => void;
  /** The dial is an internal one to an endpoint that the operator configured, so the dial policy does not apply. */
  readonly bypassesPolicy?: boolean;
  /** If absent, the socket is not counted. */
  readonly permit?: SocketPermit | undefined;
};

/**
 * Permission to have one socket open at a time, or two while both address families of a name are dialed. A destroyed
 * socket counts until it closes, one turn of the event loop later, so the next dial under the same permit waits for
 * that. Permits come from the process's socket budget in shared/holder.
 */
export type SocketPermit = {
  /** Resolves once the permit's sockets have closed; undefined if none is open. */
  closing(): Promise<void> | undefined;
  /** Called when a socket is created. Call the returned function when it has closed. */
  opened(): () => void;
  /** Called with the system error code of what this machine refused to open. */
  refused(code: string): void;
  /**
   * Called before code continues on behalf of the permit's holder after a wait (shared/lib/attribution.ts). Absent
   * without a watchdog.
   */
  readonly resumes?: (() => void) | undefined;
};

/** Why the dial failed. `code` is the system error code (`ECONNREFUSED`), from which kubelet's text follows. */
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
  /** Unread. The caller of the dial must destroy it. */
  readonly socket: Socket;
  readonly dnsMs?: number;
  readonly connectMs: number;
};

export type Dial = (request: DialRequest) => Promise<Dialed | DialFailure>;

/** The result of a name lookup. Addresses are literals, in the order of the hosts file or of the answers. */
export type Resolution =
  | { readonly kind: 'resolved'; readonly addresses: readonly string[] }
  /** NXDOMAIN or no data: a failure of the target. */
  | { readonly kind: 'notFound'; readonly message: string }
  /**
   * SERVFAIL, refused or time-out: a failure of the resolver, hence a prober error. `code`: the system error code, if
   * no question could be sent.
   */
  | { readonly kind: 'unavailable'; readonly message: string; readonly code?: string };

export type Resolve = (host: string, deadlineMs: number) => Promise<Resolution>;

/** Whether this address literal may be dialed. */
export type DialPolicy = (address: string) => boolean;

/**
 * Returns the reason why a host can never be dialed. Returns undefined for an allowed literal, and for a name, whose
 * addresses are judged at each dial.
 */
export type DialRefusal = (host: string) => string | undefined;
