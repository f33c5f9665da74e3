/** One request to the API: its time-out, its repetitions, and what counts as an answer. */
import { type Dispatcher, request } from 'undici';
import { retryAfterMs } from '../../shared/alerts/retry-after.ts';
import { type Clock, sleep } from '../../shared/lib/clock.ts';
import type { Random } from '../../shared/lib/random.ts';
import { ClientError, codeOf, connectionError, refusalLine } from './client-error.ts';

export type RequestDeps = {
  readonly clock: Clock;
  readonly random: Random;
  readonly connections: Dispatcher;
  readonly url: URL;
  readonly token?: string;
  /** Of one attempt. */
  readonly timeoutMs: number;
  /** Ends every request. */
  readonly stop?: AbortSignal;
};

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

export type Asked = {
  readonly method?: Method;
  readonly path: string;
  readonly query?: { readonly [name: string]: string | undefined };
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
  /** Statuses of refusals that the caller reads itself. */
  readonly accepts?: readonly number[];
};

/** `retryAfter`: the header. */
type TextAnswer = {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly date: string;
  readonly retryAfter: string | undefined;
};

export type JsonAnswer = { readonly status: number; readonly body: unknown; readonly date: string };

/** More than the largest answer of the API, a list of 3 MB. */
const answerBytesMax = 16 * 1024 * 1024;
const tooManyRequests = 429;
const attemptsMax = 3;
const backoffMinMs = 100;
const backoffMaxMs = 2_000;
/** A server that restarts, or a proxy before it, answers so for a moment. */
export const passingStatuses: readonly number[] = [502, 503, 504];
/** Waits of one request for a server or gateway that asks for fewer requests. */
const throttledMax = 5;
/** A longer Retry-After is not waited for. */
const retryAfterMaxMs = 60_000;
/** The connection was there and broke. One that is refused is not repeated: the server is down. */
const passingCodes: readonly string[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/** Answers with JSON of the API. @throws ClientError */
export async function askJson(deps: RequestDeps, asked: Asked): Promise<JsonAnswer> {
  const isRepeatable = asked.method !== 'POST';
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === attemptsMax || !isRepeatable || deps.stop?.aborted === true;
    try {
      const answer = await admitted(deps, asked);
      if (isLast || !passingStatuses.includes(answer.status) || isAccepted(asked, answer.status))
        return checked(deps, asked, answer);
    } catch (error) {
      if (error instanceof ClientError) throw error;
      if (isLast || !passingCodes.includes(codeOf(error))) throw failureLine(deps, error);
    }
    await sleep(deps.clock, backoffMs(attempt, deps.random), deps.stop);
  }
}

/** The first answer that does not ask for fewer requests. Such a request has done nothing, so each may be repeated. */
async function admitted(deps: RequestDeps, asked: Asked): Promise<TextAnswer> {
  for (let waits = 0; ; waits += 1) {
    const answer = await attempted(deps, asked);
    const waitMs = waits === throttledMax ? undefined : throttleMs(deps, answer, waits);
    if (waitMs === undefined || deps.stop?.aborted === true) return answer;
    await sleep(deps.clock, waitMs, deps.stop);
  }
}

/** How long the answer asks to wait; undefined: it does not, or for too long. A quota that is used up stays so. */
function throttleMs({ clock, random }: RequestDeps, answer: TextAnswer, waits: number): number | undefined {
  if (answer.status !== tooManyRequests) return undefined;
  const askedMs = retryAfterMs(answer.retryAfter, clock.nowMs());
  if (askedMs !== undefined) return askedMs <= retryAfterMaxMs ? askedMs : undefined;
  return isProblem(parsedJson(answer.type, answer.text)) ? undefined : backoffMs(waits + 1, random);
}

/** Doubles with each attempt; the second half of it is random, so that clients do not come back at the same instant. */
export function backoffMs(attempt: number, random: Random): number {
  const wholeMs = Math.min(backoffMaxMs, backoffMinMs * 2 ** (attempt - 1));
  return (wholeMs / 2) * (1 + random.next());
}

async function attempted(deps: RequestDeps, asked: Asked): Promise<TextAnswer> {
  const timeout = AbortSignal.timeout(deps.timeoutMs);
  const { statusCode, headers, body } = await send(deps, asked, timeout);
  const text = await textOf(body, deps);
  return {
    status: statusCode,
    type: String(headers['content-type'] ?? ''),
    text,
    date: String(headers.date ?? ''),
    retryAfter: headers['retry-after']?.toString(),
  };
}

/** Sends it, and answers before the body has been read. */
export function send(deps: RequestDeps, asked: Asked, over: AbortSignal): Promise<Dispatcher.ResponseData> {
  const { method = 'GET', body, headers = {} } = asked;
  return request(urlOf(deps.url, asked), {
    dispatcher: deps.connections,
    method,
    headers: {
      accept: 'application/json, application/problem+json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(deps.token !== undefined && { authorization: `Bearer ${deps.token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: deps.stop ? AbortSignal.any([over, deps.stop]) : over,
    // The signal is the only time-out of headers and body.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function urlOf(server: URL, { path, query = {} }: Asked): URL {
  const url = new URL(server);
  url.pathname = url.pathname.replace(/\/$/, '') + path;
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

async function textOf(body: Dispatcher.ResponseData['body'], { url }: RequestDeps): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw foreign(url, `has more than ${answerBytesMax} bytes`);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The line for a request that got no answer. */
export function failureLine({ url, timeoutMs }: RequestDeps, error: unknown): ClientError {
  const isSlow = error instanceof Error && error.name === 'TimeoutError';
  if (!isSlow && codeOf(error) !== 'UND_ERR_CONNECT_TIMEOUT') return connectionError(error, shownUrl(url));
  const next = 'look at its log, or allow more with --request-timeout';
  return new ClientError('slow', `${shownUrl(url)} did not answer within ${timeoutMs / 1_000} s: ${next}`);
}

const isAccepted = ({ accepts = [] }: Asked, status: number): boolean => accepts.includes(status);

/** @throws ClientError for a refusal, and for what is not JSON */
function checked(deps: RequestDeps, asked: Asked, { status, type, text, date }: TextAnswer): JsonAnswer {
  const body = parsedJson(type, text);
  if (status < 300 || isAccepted(asked, status)) {
    if (body === undefined) throw foreign(deps.url, `is ${type === '' ? 'of no type' : type}`);
    return { status, body, date };
  }
  throw refusedBy(deps, { status, body, type });
}

type RefusedAnswer = { readonly status: number; readonly body: unknown; readonly type: string };

/** The line for an answer that is not a success. */
export function refusedBy({ url, token }: RequestDeps, { status, body, type }: RefusedAnswer): ClientError {
  if (status === 401 && token === undefined)
    return new ClientError('unauthorized', `${shownUrl(url)} requires a token: give its file by --token-file`, status);
  if (status === 401) {
    const next = 'give the file that the server was started with by --token-file';
    return new ClientError('unauthorized', `${shownUrl(url)} refuses the token: ${next}`, status);
  }
  if (!isProblem(body) && status === tooManyRequests) {
    const next = 'try again later, and the same command does the rest';
    return new ClientError('refused', `${shownUrl(url)} asks for fewer requests: ${next}`, status);
  }
  if (!isProblem(body)) return foreign(url, `has the status ${status} and is ${type === '' ? 'of no type' : type}`);
  return new ClientError('refused', refusalLine(body), status);
}

/** undefined: not JSON. */
export function parsedJson(type: string, text: string): unknown {
  if (!/^application\/(problem\+)?json\b/.test(type)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

type ProblemBody = Parameters<typeof refusalLine>[0];

const isProblem = (body: unknown): body is ProblemBody =>
  typeof body === 'object' && body !== null && 'detail' in body && typeof body.detail === 'string';

/** The line for an answer that cannot be the API's. */
export const foreign = (url: URL, what: string): ClientError =>
  new ClientError(
    'foreign',
    `${shownUrl(url)} is not probelet's API (the answer ${what}): correct the address or proxy`,
  );

/** Without the slash that URL puts behind a host. */
export const shownUrl = (url: URL): string => url.href.replace(/\/$/, '');
