/**
 * One request to the API: its time-out, its repetitions, and what counts as an answer.
 *
 * Three things go wrong in different ways. A server that asks for fewer requests has done nothing, so any request waits
 * and is sent again. A connection that breaks, or a gateway without a server behind it, may have carried the request
 * out, so only an idempotent one is sent again, at most three times. Any other answer is final: JSON of the API, a
 * problem of the API, or something foreign, such as the page of a proxy. Each failure becomes one line that says what
 * to do next, without the credentials of the request.
 */
import { type Dispatcher, request } from 'undici';
import { type Clock, sleep } from '../../shared/lib/clock.ts';
import { codeOf } from '../../shared/lib/error-code.ts';
import type { Random } from '../../shared/lib/random.ts';
import { retryAfterMs } from '../../shared/lib/retry-after.ts';
import { withoutSecret } from '../../shared/lib/visible-text.ts';
import { refusedSignature, type Signer } from './aws-signer.ts';
import { ClientError, connectionError, refusalLine } from './client-error.ts';
import { boundedText } from './connections.ts';

export type RequestDeps = {
  readonly clock: Clock;
  readonly random: Random;
  readonly connections: Dispatcher;
  readonly url: URL;
  readonly token?: string | undefined;
  /** For an API on AWS, in place of a token. */
  readonly signer?: Signer | undefined;
  /** The time-out of one attempt. */
  readonly timeoutMs: number;
  /** Ends every request. */
  readonly stop?: AbortSignal | undefined;
};

export type Method = 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';

/** RFC 9110, section 9.2.2: only such a request may be sent again when its answer is lost. */
const idempotentMethods: ReadonlySet<Method> = new Set(['GET', 'PUT', 'DELETE']);

export type ApiCall = {
  readonly method?: Method;
  readonly path: string;
  readonly query?: { readonly [name: string]: string | undefined };
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Replaces `body`, with its own content type in the headers. */
  readonly text?: string;
  readonly headers?: { readonly [name: string]: string };
  /** Sent without a token or signature. */
  readonly isOpen?: boolean;
  /** Statuses of refusals that the caller reads itself. */
  readonly accepts?: readonly number[];
};

/** `code`: what AWS calls its refusal. */
type TextAnswer = { readonly status: number; readonly text: string } & ReturnType<typeof markOf>;

/** `characters`: of its text. */
export type JsonAnswer = {
  readonly status: number;
  readonly date: string;
  readonly warning: string;
  readonly body: unknown;
  readonly characters: number;
};

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
export const askJson = async (deps: RequestDeps, call: ApiCall): Promise<JsonAnswer> =>
  checked(deps, call, await repeated(deps, call));

/** Answers with text of any type. @throws ClientError */
export async function askText(deps: RequestDeps, call: ApiCall): Promise<TextAnswer> {
  const answer = await repeated(deps, call);
  if (answer.status < 300 || isAccepted(call, answer.status)) return answer;
  throw refusedBy(deps, { ...answer, body: parsedJson(answer.type, answer.text) });
}

async function repeated(deps: RequestDeps, call: ApiCall): Promise<TextAnswer> {
  const isRepeatable = idempotentMethods.has(call.method ?? 'GET');
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === attemptsMax || !isRepeatable || deps.stop?.aborted === true;
    try {
      const answer = await admitted(deps, call);
      if (isLast || !passingStatuses.includes(answer.status) || isAccepted(call, answer.status)) return answer;
    } catch (error) {
      if (error instanceof ClientError) throw error;
      if (isLast || !passingCodes.includes(codeOf(error))) throw failureLine(deps, error);
    }
    await sleep(deps.clock, backoffMs(attempt, deps.random), deps.stop);
  }
}

/** The first answer that does not ask for fewer requests. Such a request has done nothing, so each may be repeated. */
async function admitted(deps: RequestDeps, call: ApiCall): Promise<TextAnswer> {
  for (let waits = 0; ; waits += 1) {
    const answer = await attempted(deps, call);
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

async function attempted(deps: RequestDeps, call: ApiCall): Promise<TextAnswer> {
  const timeout = AbortSignal.timeout(deps.timeoutMs);
  const { statusCode, headers, body } = await send(deps, call, timeout);
  const text = await boundedText(body, answerBytesMax);
  if (text === undefined) throw foreign(deps.url, `has more than ${answerBytesMax} bytes`);
  return { status: statusCode, text, ...markOf(deps, headers) };
}

/** Facts of the headers of an answer. Type and code may stand in errors. */
export const markOf = (deps: RequestDeps, headers: Dispatcher.ResponseData['headers']) => ({
  type: withoutSecrets(deps, String(headers['content-type'] ?? '')),
  date: String(headers.date ?? ''),
  retryAfter: headers['retry-after']?.toString(),
  // Some services append the address of a page behind a colon.
  code: withoutSecrets(deps, String(headers['x-amzn-errortype'] ?? '')).replace(/:.*/, ''),
  warning: warningText(String(headers.warning ?? '')),
});

/** The text without the credentials of the request, which the server may repeat. */
const withoutSecrets = ({ token, signer }: RequestDeps, text: string): string =>
  [...(token === undefined ? [] : [token]), ...(signer?.secrets() ?? [])].reduce(withoutSecret, text);

const warningStart = '299 - "';

/** The texts of the API's warnings, in one line as in the answers to several manifests. */
function warningText(header: string): string {
  if (!header.startsWith(warningStart)) return header;
  try {
    // The API escapes quotation marks and backslashes as JSON does.
    const texts = header.slice(warningStart.length, -1).split(`", ${warningStart}`);
    return texts.map((text) => JSON.parse(`"${text}"`)).join('; ');
  } catch {
    return header;
  }
}

/** Sends it, and answers before the body has been read. */
export async function send(deps: RequestDeps, call: ApiCall, over: AbortSignal): Promise<Dispatcher.ResponseData> {
  const { method = 'GET', isOpen = false } = call;
  const url = urlOf(deps.url, call);
  const body = call.text ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
  const headers = {
    accept: 'application/json, application/problem+json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(deps.token !== undefined && !isOpen && { authorization: `Bearer ${deps.token}` }),
    ...call.headers,
  };
  const sent = { method, url, headers, ...(body !== undefined && { body }) };
  return request(url, {
    dispatcher: deps.connections,
    method,
    headers: deps.signer && !isOpen ? await deps.signer.sign(sent) : headers,
    ...(body !== undefined && { body }),
    signal: deps.stop ? AbortSignal.any([over, deps.stop]) : over,
    // The signal is the only time-out of headers and body.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function urlOf(server: URL, { path, query = {} }: ApiCall): URL {
  const url = new URL(server);
  url.pathname = url.pathname.replace(/\/$/, '') + path;
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  // AWS signs a space as %20, and takes a plus sign for itself.
  url.search = url.search.replaceAll('+', '%20');
  return url;
}

/** The line for a request that got no answer. */
export function failureLine({ url, timeoutMs }: RequestDeps, error: unknown): ClientError {
  const isSlow = error instanceof Error && error.name === 'TimeoutError';
  if (!isSlow && codeOf(error) !== 'UND_ERR_CONNECT_TIMEOUT') return connectionError(error, shownUrl(url));
  const next = 'look at its log, or allow more with --request-timeout';
  return new ClientError('slow', `${shownUrl(url)} did not answer within ${timeoutMs / 1_000} s: ${next}`);
}

const isAccepted = ({ accepts = [] }: ApiCall, status: number): boolean => accepts.includes(status);

/** @throws ClientError for a refusal, and for what is not JSON */
function checked(deps: RequestDeps, call: ApiCall, answer: TextAnswer): JsonAnswer {
  const { status, type, text, date, warning } = answer;
  const body = parsedJson(type, text);
  if (status < 300 || isAccepted(call, status)) {
    if (body === undefined) throw foreign(deps.url, `is ${type === '' ? 'of no type' : type}`);
    return { status, body, date, warning, characters: text.length };
  }
  throw refusedBy(deps, { ...answer, body });
}

type Refusal = Omit<TextAnswer, 'text'> & { readonly body: unknown };

/** The line for an answer that is not a success. */
export function refusedBy(deps: RequestDeps, answer: Refusal): ClientError {
  const { url, token, signer } = deps;
  const { status, body, type } = answer;
  if (isGatewayAnswer(body) && (status === 403 || signer)) return refusedByGateway(deps, answer);
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
  return new ClientError('refused', withoutSecrets(deps, refusalLine(body)), status);
}

function refusedByGateway({ url, signer, clock }: RequestDeps, { status, code, date }: Refusal): ClientError {
  const named = `${status}${code === '' ? '' : ` ${code}`}`;
  const line = (what: string) => new ClientError('unauthorized', `${shownUrl(url)} ${what}`, status);
  if (status === 404) return foreign(url, 'has the status 404 without a problem');
  if (status === 429) return line(`is asked too often (${named}): ask again later`);
  if (status >= 500) return line(`could not answer (${named}): look at the log of the API's function`);
  if (!signer) {
    const next = "sign with --auth aws, or use a context of 'probelet context add NAME --stack STACK'";
    return line(`refuses requests without a signature of AWS (${named}): ${next}`);
  }
  const serverMs = Date.parse(date);
  const skewMs = Number.isNaN(serverMs) ? 0 : clock.nowMs() - serverMs;
  return line(`refuses the AWS credentials (${named}; ${signer.scope}): ${refusedSignature(code, skewMs)}`);
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

/** Whether it is a problem of the API, and not of another server. */
export const isApiProblem = (body: unknown): boolean =>
  isProblem(body) && 'type' in body && String(body.type).startsWith('urn:probelet:');

/** API Gateway answers so itself, in the place of the API: `{"message": "Forbidden"}`. */
export const isGatewayAnswer = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'message' in body && !('type' in body);

/** The line for an answer that cannot be the API's. */
export const foreign = (url: URL, what: string): ClientError =>
  new ClientError(
    'foreign',
    `${shownUrl(url)} is not probelet's API (the answer ${what}): correct the address or proxy`,
  );

/** Without user and password, and without the slash that URL puts behind a host. */
export const shownUrl = ({ protocol, host, pathname, search }: URL): string =>
  `${protocol}//${host}${pathname}${search}`.replace(/\/$/, '');
