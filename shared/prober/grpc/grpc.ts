/**
 * kubelet's gRPC probe: `grpc.health.v1.Health/Check`, plaintext, on a fresh connection, with one deadline for
 * connecting and calling. Source: pkg/probe/grpc; for the connection and for reading the answer: grpc-go.
 */
import { goDuration, goQuote } from '../../core/go/text.ts';
import type { GrpcRequest } from '../../core/spec/handler-grpc.ts';
import type { Attempt, FailureClass, PhaseTimings } from '../../core/spec/types.ts';
import { userAgent } from '../../core/spec/user-agent.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import { hostPort } from '../../net/dial-failure.ts';
import type { Dial, DialFailure, SocketPermit } from '../../net/net.ts';
import { dialTimings, failedDial, isInternalFailure } from '../failed-dial.ts';
import type { Prober } from '../prober.ts';
import { type Call, type CallAttempt, type CallOutcome, openSession, type Session } from './call.ts';
import { codeName, encodeAuthority, serving, servingStatusName } from './codec.ts';
import type { RpcResult } from './reply.ts';
import { rpcCode } from './status.ts';

export type GrpcProberOptions = { readonly dial: Dial; readonly clock: Clock };

/**
 * Only SERVING succeeds. Every other outcome is a failure with kubelet's text, except that a denied dial and an
 * internal error of the prober are prober errors.
 */
export function grpcProber(options: GrpcProberOptions): Prober<GrpcRequest> {
  return async (request, permit) => {
    const startMs = options.clock.monotonicMs();
    const deadlineMs = startMs + request.timeoutMs;
    const asked = await ask(request, deadlineMs, { ...options, permit });
    const totalMs = options.clock.monotonicMs() - startMs;
    if (asked.kind === 'internal') return failedDial(asked.failure, totalMs);
    if (asked.kind === 'late') return notConnected(request, asked.failure, totalMs);
    const { connected, outcome } = asked;
    const timings: Writable<PhaseTimings> = { connectMs: connected.connectMs, totalMs };
    if (connected.dnsMs !== undefined) timings.dnsMs = connected.dnsMs;
    if (outcome.firstByteMs !== undefined) timings.firstByteMs = outcome.firstByteMs;
    return verdict(request, outcome.result, timings);
  };
}

type Writable<Record> = { -readonly [Key in keyof Record]: Record[Key] };

type Asked = { readonly kind: 'answered'; readonly connected: Connected; readonly outcome: CallOutcome } | NotConnected;

type Asking = GrpcProberOptions & { readonly permit: SocketPermit | undefined };

/**
 * grpc-go silently repeats a call whose request did not leave, as often as that happens, and once a call that the
 * server did not begin to process; but it does not wait for a connection again. With a server that sends GOAWAY right
 * after its greeting it tries one connection after another, until a request happens to leave before the GOAWAY. Here
 * the request of the last connection leaves in any case.
 */
const repeatedMax = 16;

async function ask(request: GrpcRequest, deadlineMs: number, options: Asking): Promise<Asked> {
  const { host, port, service } = request;
  const call = { authority: encodeAuthority(hostPort(host, port)), service, userAgent, deadlineMs };
  const first = await connectUntil(request, deadlineMs, { ...options, call, attempt: firstAttempt });
  if (first.kind !== 'connected') return first;
  let connected = first;
  for (let repeated = 1; ; repeated += 1) {
    const answered: Asked = { kind: 'answered', connected, outcome: await connected.session.outcome };
    if (!answered.outcome.isRepeated) return answered;
    const attempt = { isEager: repeated >= repeatedMax, isFirst: false };
    const again = await connectOnce(request, deadlineMs, { ...options, call, attempt });
    // What this machine lacks says nothing about the server.
    if (again.kind === 'internal') return again;
    if (again.kind !== 'connected') return answered;
    connected = again;
  }
}

const firstAttempt = { isEager: false, isFirst: true };

/** kubelet has one text for every reason; the class keeps the last one apart. */
function notConnected(request: GrpcRequest, failure: DialFailure | undefined, totalMs: number): Attempt {
  const address = goQuote(hostPort(request.host, request.port));
  const within = goDuration(request.timeoutMs);
  return {
    outcome: 'failure',
    output: `timeout: failed to connect service ${address} within ${within}: context deadline exceeded`,
    failureClass: failure?.failureClass ?? 'CONNECT_TIMEOUT',
    timings: dialTimings(failure?.dnsMs, totalMs),
  };
}

function verdict(request: GrpcRequest, result: RpcResult, timings: PhaseTimings): Attempt {
  const failure = (failureClass: FailureClass, output: string): Attempt => ({
    outcome: 'failure',
    output,
    failureClass,
    timings,
  });
  if (result.kind === 'answered') {
    if (result.servingStatus === serving) return { outcome: 'success', output: 'service healthy', timings };
    const name = goQuote(servingStatusName(result.servingStatus));
    return failure('GRPC_NOT_SERVING', `service unhealthy (responded with ${name})`);
  }
  if (result.code === rpcCode.unimplemented) return failure('GRPC_STATUS', notImplemented + result.message);
  if (result.code === rpcCode.deadlineExceeded)
    return failure('TIMEOUT', `timeout: health rpc did not complete within ${goDuration(request.timeoutMs)}`);
  const description = `code = ${codeName(result.code)} desc = ${result.message}`;
  return failure('GRPC_STATUS', `error: health rpc probe failed: rpc error: ${description}`);
}

const notImplemented = 'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ';

// Connects for gRPC before the deadline: dials, awaits the server's greeting, begins the call. Until then every failure
// is followed by another try.

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
