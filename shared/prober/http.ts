/** kubelet's HTTP probe: one GET, redirects on the same host name, ten KiB of body. Source: pkg/probe/http. */
import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { toBytes } from '../core/byte-text.ts';
import { goQuote } from '../core/go-text.ts';
import type { HttpRequest, RequestHeader } from '../core/handler-http-get.ts';
import type { Attempt, FailureClass, PhaseTimings } from '../core/types.ts';
import type { Clock } from '../lib/clock.ts';
import type { Dial, SocketPermit } from '../net/net.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { isInternalFailure } from './failed-dial.ts';
import {
  awaitingHeadTimeout,
  type Exchange,
  type Exchanged,
  type ExchangeFailure,
  type ExchangeOptions,
} from './http-exchange.ts';
import { firstHop, type Hop, type NextStep, nextStep } from './http-redirect.ts';
import { httpUrl, withoutPassword } from './http-url.ts';
import { exchangeHttp1 } from './http1-exchange.ts';
import type { Head } from './http1-head.ts';
import { headersProblem } from './http1-request.ts';
import type { HttpResponse } from './http1-response.ts';
import { exchangeHttp2 } from './http2-exchange.ts';
import { type KeptMemory, type KeptOfProbe, keptMemory } from './kept-memory.ts';
import type { Prober } from './prober.ts';
import { secure } from './tls.ts';

export type HttpProberOptions = {
  readonly dial: Dial;
  readonly clock: Clock;
  /** Shared with the other probers of the process; absent: a separate one. */
  readonly memory?: KeptMemory;
};

/** kubelet reads so much of a body; a longer or endless one is cut, which is no error. */
export const bodyBytesMax = 10 * 1024;
/** Go reads so much of a redirect's body before it follows the redirect. */
const redirectBodyBytesMax = 2 * 1024;

/**
 * A fresh connection for every request, one deadline for all of them. An error before a head is complete is a failure;
 * an error in the body is a prober error. The output of a success or warning contains the body, one character per byte
 * if it is not UTF-8.
 */
export function httpProber({ memory = keptMemory(), ...options }: HttpProberOptions): Prober<HttpRequest> {
  return async (request, permit) => {
    const attempt = startAttempt({ ...options, memory }, request, permit);
    const verdict = await probe(attempt, request);
    attempt.deadline.cancel();
    attempt.kept.close();
    const totalMs = options.clock.monotonicMs() - attempt.startMs;
    return { ...verdict, timings: { ...attempt.timings, totalMs } };
  };
}

type Verdict = Omit<Attempt, 'timings'>;

/** The state of one attempt; the phases of several hops are summed. */
type Running = Omit<HttpProberOptions, 'memory'> & {
  readonly startMs: number;
  readonly deadline: Deadline;
  readonly permit: SocketPermit | undefined;
  readonly kept: KeptOfProbe;
  readonly timings: { -readonly [Phase in keyof Omit<PhaseTimings, 'totalMs'>]?: number };
};

function startAttempt(
  { clock, dial, memory }: Required<HttpProberOptions>,
  { timeoutMs }: HttpRequest,
  permit: SocketPermit | undefined,
): Running {
  const startMs = clock.monotonicMs();
  return { clock, dial, permit, startMs, deadline: startDeadline(clock, timeoutMs), kept: memory.open(), timings: {} };
}

const addTiming = ({ timings }: Running, phase: keyof Running['timings'], ms: number) => {
  timings[phase] = (timings[phase] ?? 0) + ms;
};

async function probe(running: Running, { url, headers, hostOverride }: HttpRequest): Promise<Verdict> {
  const fields = headers.map(fieldOf);
  let hop = firstHop({ url: httpUrl(toBytes(url)), headers: fields, hostOverride });
  // Bounded: nextStep follows at most nine redirects.
  for (;;) {
    const answer = await ask(running, hop);
    if (answer.kind === 'verdict') return answer.verdict;
    const { step, response } = answer;
    if (step.kind === 'failed') return failure(step.message, 'HTTP_REDIRECT');
    if (step.kind === 'stay') return judge(response);
    hop = step.hop;
  }
}

const fieldOf = ([name, value, kind]: RequestHeader): RequestHeader =>
  kind === undefined ? [toBytes(name), toBytes(value)] : [toBytes(name), toBytes(value), kind];

type Answer =
  | { readonly kind: 'verdict'; readonly verdict: Verdict }
  | { readonly kind: 'answer'; readonly response: HttpResponse; readonly step: NextStep };

/** One request on its own connection, up to the head and the wanted part of the body. */
async function ask(running: Running, hop: Hop): Promise<Answer> {
  const { clock, deadline, kept } = running;
  const refusal = refusedRequest(hop);
  if (refusal !== undefined) return failedHop(hop, refusal, hop.requests === 1 ? 'HANDLER' : 'HTTP_REDIRECT');
  if (deadline.isOver()) return failedHop(hop, awaitingHeadTimeout, 'TIMEOUT');
  let step: NextStep = { kind: 'stay' };
  const wanted = (head: Head): number => {
    step = nextStep(hop, head.status, head.location);
    return wantedBytes(step, head);
  };
  const exchanged = await exchange(running, hop, { clock, deadline, bodyBytesMax: wanted, reserve: kept.reserve });
  if (exchanged.kind === 'verdict') return exchanged;
  if (exchanged.kind === 'failed') return failedExchange(hop, exchanged);
  addTiming(running, 'firstByteMs', exchanged.firstByteMs);
  return { kind: 'answer', response: exchanged.response, step };
}

const failedExchange = (
  hop: Hop,
  { message, failureClass }: Pick<ExchangeFailure, 'message'> & { readonly failureClass: FailureClass },
) => (failureClass === 'PROBER' ? proberError(message, failureClass) : failedHop(hop, message, failureClass));

/** Go's client asks again without end, and without a pause, while the server says that it did not begin. */
const exchangesMax = 8;

async function exchange(
  running: Running,
  hop: Hop,
  options: ExchangeOptions,
): Promise<Exchanged | Extract<Answer, { kind: 'verdict' }>> {
  for (let exchanges = 1; ; exchanges += 1) {
    const connection = await connect(running, hop);
    if (connection.kind === 'verdict') return connection;
    const exchanged = await connection.exchange(connection.socket, hop, options);
    const isRetried = exchanged.kind === 'failed' && exchanged.isRetried && exchanges < exchangesMax;
    if (!isRetried || options.deadline.isOver()) return exchanged;
  }
}

function wantedBytes(step: NextStep, { framing }: Head): number {
  if (step.kind === 'stay') return bodyBytesMax;
  const isLong = framing.kind === 'length' && framing.bytes > redirectBodyBytesMax;
  return isLong ? 0 : redirectBodyBytesMax;
}

/** Why Go's client refuses the request before it dials. */
function refusedRequest({ url, headers }: Hop): string | undefined {
  if (url.scheme !== 'http' && url.scheme !== 'https') return `unsupported protocol scheme ${goQuote(url.scheme)}`;
  return headersProblem(headers) ?? (url.host === '' ? 'http: no Host in request URL' : undefined);
}

type Connection = { readonly kind: 'connected'; readonly socket: Socket; readonly exchange: Exchange };

async function connect(running: Running, hop: Hop): Promise<Connection | Extract<Answer, { kind: 'verdict' }>> {
  const { clock, deadline, dial, permit } = running;
  const { dialHost: host, port, scheme } = hop.url;
  const dialed = await dial({ host, port, deadlineMs: deadline.atMs, ...(permit && { permit }) });
  if (dialed.dnsMs !== undefined) addTiming(running, 'dnsMs', dialed.dnsMs);
  if (dialed.kind === 'failed') {
    if (isInternalFailure(dialed)) return proberError(dialed.message, dialed.failureClass);
    const why = dialed.failureClass === 'CONNECT_TIMEOUT' ? `${dialed.message} ${whileAwaiting}` : dialed.message;
    return failedHop(hop, why, dialed.failureClass);
  }
  addTiming(running, 'connectMs', dialed.connectMs);
  if (scheme === 'http') return { kind: 'connected', socket: dialed.socket, exchange: exchangeHttp1 };
  const secured = await secure(dialed.socket, { hostname: host, clock, deadline });
  if (secured.kind === 'failed') return failedExchange(hop, secured);
  addTiming(running, 'tlsMs', secured.tlsMs);
  return {
    kind: 'connected',
    socket: secured.socket,
    exchange: secured.protocol === 'h2' ? exchangeHttp2 : exchangeHttp1,
  };
}

const whileAwaiting = '(Client.Timeout exceeded while awaiting headers)';

function failedHop({ url }: Hop, why: string, failureClass: FailureClass): Extract<Answer, { kind: 'verdict' }> {
  return { kind: 'verdict', verdict: failure(`Get ${goQuote(withoutPassword(url))}: ${why}`, failureClass) };
}

function proberError(error: string, failureClass: FailureClass): Extract<Answer, { kind: 'verdict' }> {
  return { kind: 'verdict', verdict: { outcome: 'unknown', output: '', error, failureClass } };
}

const failure = (output: string, failureClass: FailureClass): Verdict => ({ outcome: 'failure', output, failureClass });

function judge({ status, body, bodyError }: HttpResponse): Verdict {
  if (bodyError !== undefined) return { outcome: 'failure', output: '', error: bodyError, failureClass: 'BODY' };
  if (status < 200 || status > 399) return failure(`HTTP probe failed with statuscode: ${status}`, 'HTTP_STATUS');
  const text = body.toString(isUtf8(body) ? 'utf8' : 'latin1');
  if (status <= 299) return { outcome: 'success', output: text };
  return { outcome: 'warning', output: `Probe terminated redirects, Response body: ${text}` };
}
