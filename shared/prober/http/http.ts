/** kubelet's HTTP probe: one GET, redirects on the same host name, ten KiB of body. Source: pkg/probe/http. */

import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { toBytes } from '../../core/go/bytes.ts';
import { goQuote } from '../../core/go/text.ts';
import type { HttpRequest, RequestHeader } from '../../core/spec/handler-http-get.ts';
import type { Attempt, FailureClass, PhaseTimings } from '../../core/spec/types.ts';
import type { Head } from '../../http1/head.ts';
import type { HttpResponse } from '../../http1/response.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import { memoized } from '../../lib/memoized.ts';
import type { Dial, Dialed, DialFailure, SocketPermit } from '../../net/net.ts';
import { awaitingHeadTimeout, type Deadline, startDeadline } from '../deadline.ts';
import { isInternalFailure } from '../failed-dial.ts';
import { type KeptMemory, type KeptOfProbe, keptMemory } from '../kept-memory.ts';
import type { Prober } from '../prober.ts';
import type { Resumption, TlsSessions } from '../tls/sessions.ts';
import { secure } from '../tls/tls.ts';
import type { Exchange, ExchangeOptions } from './http-exchange.ts';
import { exchangeHttp1 } from './http1-exchange.ts';
import { exchangeHttp2 } from './http2-exchange.ts';
import { firstHop, type Hop, type NextStep, nextStep } from './redirect.ts';
import { headersProblem } from './request.ts';
import { httpUrl, withoutPassword } from './url.ts';

export type HttpProberOptions = {
  readonly dial: Dial;
  readonly clock: Clock;
  /** Shared with the other probers of the process; absent: a separate one. */
  readonly memory?: KeptMemory;
  /** The process's TLS sessions; absent: every handshake is a full one, as kubelet's. */
  readonly tlsSessions?: TlsSessions | undefined;
};

/** kubelet reads so much of a body; a longer or endless one is cut, which is no error. */
export const bodyBytesMax = 10 * 1024;
/** Go reads so much of a redirect's body before it follows the redirect. */
const redirectBodyBytesMax = 2 * 1024;

/**
 * A fresh connection for every request, one deadline for all of them. An error before a head is complete is a failure;
 * an error in the body is a prober error. The output of a success or warning contains the body, one character per byte
 * if it is not UTF-8. What follows from a request alone is made once, so a request is kept between probes.
 */
export function httpProber({ memory = keptMemory(), ...options }: HttpProberOptions): Prober<HttpRequest> {
  return (request, permit) => {
    const running = startAttempt({ ...options, memory }, request, permit);
    return attemptHops(running, hopOf(request));
  };
}

type Verdict = Omit<Attempt, 'timings'>;

/** The state of one attempt; the phases of several hops are summed. */
type Running = Omit<HttpProberOptions, 'memory'> & {
  readonly startMs: number;
  readonly deadline: Deadline;
  readonly permit: SocketPermit | undefined;
  readonly kept: KeptOfProbe;
  readonly timings: { -readonly [Phase in keyof PhaseTimings]: PhaseTimings[Phase] };
};

function startAttempt(
  { memory, ...options }: HttpProberOptions & { readonly memory: KeptMemory },
  { timeoutMs }: HttpRequest,
  permit: SocketPermit | undefined,
): Running {
  const { clock } = options;
  const startMs = clock.monotonicMs();
  const deadline = startDeadline(clock, timeoutMs);
  return { ...options, permit, startMs, deadline, kept: memory.open(), timings: { totalMs: 0 } };
}

function endAttempt({ clock, deadline, kept, startMs, timings }: Running, verdict: Verdict): Attempt {
  deadline.cancel();
  kept.close();
  timings.totalMs = clock.monotonicMs() - startMs;
  return { ...verdict, timings };
}

const addTiming = ({ timings }: Running, phase: keyof Running['timings'], ms: number) => {
  timings[phase] = (timings[phase] ?? 0) + ms;
};

const hopOf = memoized(({ url, headers, hostOverride }: HttpRequest) =>
  firstHop({ url: httpUrl(toBytes(url)), headers: headers.map(fieldOf), hostOverride }),
);

const fieldOf = ([name, value, kind]: RequestHeader): RequestHeader =>
  kind === undefined ? [toBytes(name), toBytes(value)] : [toBytes(name), toBytes(value), kind];

/**
 * While a server says that it did not begin, Go's client asks again without a pause until the time is over: some
 * hundred TLS handshakes a second. This one pauses after so many, which leaves the verdict the same: a server that
 * recovers in time passes.
 */
const unpausedMax = 16;
const pauseMs = 100;

/**
 * One request after the other, each on its own connection, up to the head and the wanted part of the body. Bounded:
 * nextStep follows at most nine redirects, and the time-out ends what is asked again, such as what failed over a TLS
 * session. Each function that waits costs memory and time in every probe, so over plain HTTP this one alone does.
 */
async function attemptHops(running: Running, first: Hop): Promise<Attempt> {
  const end = (verdict: Verdict): Attempt => endAttempt(running, verdict);
  let hop = first;
  for (let exchanges = 1; ; exchanges += 1) {
    if (exchanges > unpausedMax) await pause(running);
    const refused = refusedHop(running, hop);
    if (refused) return end(refused);
    const dialed = await dialHop(running, hop);
    const connection = hop.url.scheme === 'http' ? connected(running, dialed) : await secured(running, hop, dialed);
    if (isAskedAgain(connection)) continue;
    if (connection.kind === 'failed') return end(failedHop(hop, connection));
    const { options, stepOf } = asking(running, hop);
    const exchanged = await connection.exchange(connection.socket, hop, options);
    if (isAskedAgain(exchanged)) continue;
    if (exchanged.kind === 'failed') return end(failedHop(hop, exchanged));
    addTiming(running, 'firstByteMs', exchanged.firstByteMs);
    const step = stepOf();
    if (step.kind === 'failed') return end(failure(step.message, 'HTTP_REDIRECT'));
    if (step.kind === 'stay') return end(judge(exchanged.response));
    hop = step.hop;
    exchanges = 0;
  }
}

function refusedHop({ deadline }: Running, hop: Hop): Verdict | undefined {
  const message = refusedRequest(hop);
  if (message !== '')
    return failedHop(hop, { message, failureClass: hop.requests === 1 ? 'HANDLER' : 'HTTP_REDIRECT' });
  return deadline.isOver() ? failedHop(hop, { message: awaitingHeadTimeout, failureClass: 'TIMEOUT' }) : undefined;
}

/** Go's client dials without a deadline, so the first address of a name may take all of the time. */
const dividedUntilMs = Number.POSITIVE_INFINITY;

const dialHop = ({ deadline, dial, permit }: Running, { url: { dialHost: host, port } }: Hop) =>
  dial({
    host,
    port,
    deadlineMs: deadline.atMs,
    dividedUntilMs,
    whenOver: deadline.whenOver,
    permit,
  });

type Connection = { readonly kind: 'connected'; readonly socket: Socket; readonly exchange: Exchange };

function connected(running: Running, dialed: Dialed | DialFailure): Connection | DialFailure {
  if (dialed.dnsMs !== undefined) addTiming(running, 'dnsMs', dialed.dnsMs);
  if (dialed.kind === 'failed') return dialed;
  addTiming(running, 'connectMs', dialed.connectMs);
  return { kind: 'connected', socket: dialed.socket, exchange: exchangeHttp1 };
}

async function secured(running: Running, { url }: Hop, dialed: Dialed | DialFailure) {
  const { clock, deadline, tlsSessions: sessions } = running;
  const connection = connected(running, dialed);
  if (connection.kind === 'failed') return connection;
  const outcome = await secure(connection.socket, { hostname: url.dialHost, clock, deadline, sessions });
  if (outcome.kind === 'failed') return outcome;
  addTiming(running, 'tlsMs', outcome.tlsMs);
  const exchange = outcome.protocol === 'h2' ? exchangeHttp2 : exchangeHttp1;
  const { socket, resumed } = outcome;
  return { kind: 'connected', socket, exchange: resumed ? overResumed(exchange, resumed) : exchange } as const;
}

/**
 * In TLS 1.3 the client's handshake is over before the server's, which may still refuse the session. So a connection
 * that fails before a byte of an answer is taken for a failed handshake.
 */
const overResumed =
  (exchange: Exchange, resumption: Resumption): Exchange =>
  async (socket, request, options) => {
    const exchanged = await exchange(socket, request, options);
    if (exchanged.kind !== 'failed' || socket.bytesRead > 0) return exchanged;
    resumption.failed();
    return { ...exchanged, isRetried: true };
  };

/** `stepOf`: what the head that came asks for. */
function asking({ clock, deadline, kept }: Running, hop: Hop) {
  let step: NextStep = { kind: 'stay' };
  const wanted = (head: Head): number => {
    step = nextStep(hop, head.status, head.location);
    return wantedBytes(step, head);
  };
  const options: ExchangeOptions = { clock, deadline, bodyBytesMax: wanted, reserve: kept.reserve };
  return { options, stepOf: (): NextStep => step };
}

const isAskedAgain = (step: { readonly kind: string; readonly isRetried?: boolean }): boolean =>
  step.isRetried === true;

const pause = ({ clock, deadline }: Running): Promise<void> =>
  sleep(clock, Math.max(0, Math.min(pauseMs, deadline.atMs - clock.monotonicMs())));

function wantedBytes(step: NextStep, { framing }: Head): number {
  if (step.kind === 'stay') return bodyBytesMax;
  const isLong = framing.kind === 'length' && framing.bytes > redirectBodyBytesMax;
  return isLong ? 0 : redirectBodyBytesMax;
}

/** Why Go's client refuses the request before it dials; empty: it does not. */
const refusedRequest = memoized(({ url, headers }: Hop): string => {
  if (url.scheme !== 'http' && url.scheme !== 'https') return `unsupported protocol scheme ${goQuote(url.scheme)}`;
  return headersProblem(headers) ?? (url.host === '' ? 'http: no Host in request URL' : '');
});

type ClassedFailure = { readonly message: string; readonly failureClass: FailureClass; readonly code?: string };

function failedHop({ url }: Hop, { message, failureClass, code }: ClassedFailure): Verdict {
  if (isInternalFailure({ failureClass })) return { outcome: 'unknown', output: '', error: message, failureClass };
  // Go's client gives up the request, and does not learn what became of the dial.
  const isGivenUp = failureClass === 'CONNECT_TIMEOUT' && code === undefined;
  const why = isGivenUp ? awaitingHeadTimeout : message;
  return failure(`Get ${goQuote(withoutPassword(url))}: ${why}`, failureClass);
}

const failure = (output: string, failureClass: FailureClass): Verdict => ({ outcome: 'failure', output, failureClass });

function judge({ status, body, bodyError }: HttpResponse): Verdict {
  if (bodyError !== undefined) return { outcome: 'failure', output: '', error: bodyError, failureClass: 'BODY' };
  if (status < 200 || status > 399) return failure(`HTTP probe failed with statuscode: ${status}`, 'HTTP_STATUS');
  const text = body.toString(isUtf8(body) ? 'utf8' : 'latin1');
  if (status <= 299) return { outcome: 'success', output: text };
  return { outcome: 'warning', output: `Probe terminated redirects, Response body: ${text}` };
}
