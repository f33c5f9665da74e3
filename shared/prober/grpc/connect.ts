/**
 * Connects for gRPC before the deadline: dials, awaits the server's greeting, begins the call. Until then every failure
 * is followed by another try.
 */
import { type Clock, sleep } from '../../lib/clock.ts';
import type { Dial, DialFailure, SocketPermit } from '../../net/net.ts';
import { isInternalFailure } from '../failed-dial.ts';
import type { CallAttempt } from './call.ts';
import type { Call } from './request.ts';
import { openSession, type Session } from './session.ts';

export type Connected = {
  readonly kind: 'connected';
  readonly session: Session;
  readonly dnsMs: number | undefined;
  readonly connectMs: number;
};

export type NotConnected =
  /** The deadline has passed; `failure`: of the last dial, if it failed. */
  | { readonly kind: 'late'; readonly failure?: DialFailure }
  /** An internal error of the prober, or a denied dial: returned at once, not tried again. */
  | { readonly kind: 'internal'; readonly failure: DialFailure };

type Endpoint = { readonly host: string; readonly port: number };
type ConnectOptions = {
  readonly dial: Dial;
  readonly clock: Clock;
  readonly permit: SocketPermit | undefined;
  readonly call: Call;
  readonly attempt: CallAttempt;
};

/**
 * Maximum duration of one try: grpc-go's minimum connect time-out. The addresses of a name share it, although the
 * probe's time-out may end it early.
 */
const tryMsMax = 20_000;
/** gRPC's connection back-off, without its jitter: a probe has one connection, and phases spread the probes already. */
const backoffBaseMs = 1000;
const backoffFactor = 1.6;

/** At least a second passes between two tries, so the deadline bounds their number. */
export async function connectUntil(
  endpoint: Endpoint,
  deadlineMs: number,
  options: ConnectOptions,
): Promise<Connected | NotConnected> {
  const { clock } = options;
  for (let backoffMs = backoffBaseMs; ; backoffMs *= backoffFactor) {
    const untilMs = Math.min(deadlineMs, clock.monotonicMs() + tryMsMax);
    const tried = await connectOnce(endpoint, untilMs, options);
    if (tried.kind !== 'late') return tried;
    const remainingMs = deadlineMs - clock.monotonicMs();
    await sleep(clock, Math.max(0, Math.min(backoffMs, remainingMs)));
    if (backoffMs >= remainingMs) return tried;
  }
}

/** One try. */
export async function connectOnce(
  { host, port }: Endpoint,
  untilMs: number,
  { dial, clock, permit, call, attempt }: ConnectOptions,
): Promise<Connected | NotConnected> {
  const dividedUntilMs = clock.monotonicMs() + tryMsMax;
  const dialed = await dial({ host, port, deadlineMs: untilMs, dividedUntilMs, permit });
  if (dialed.kind === 'failed') return { kind: isInternalFailure(dialed) ? 'internal' : 'late', failure: dialed };
  const session = await openSession(dialed.socket, { clock, untilMs, call, attempt });
  if (session === undefined) return { kind: 'late' };
  return { kind: 'connected', session, dnsMs: dialed.dnsMs, connectMs: dialed.connectMs };
}
