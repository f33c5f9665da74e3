/**
 * Calls an AWS service without its SDK client. The SSM client alone would add 210 KB to the prober's bundle, for three
 * operations that most deployments do not use. Credentials, signer and connections come from the SQS client, which is
 * there anyway.
 */
import { text } from 'node:stream/consumers';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Clock } from '../lib/clock.ts';
import { type Access, isDenial } from './access.ts';

export type AwsService = 'lambda' | 'ssm' | 'secretsmanager';

export type AwsRequest = {
  readonly service: AwsService;
  /** URI-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The resource that IAM grants access to, if the path does not name it. */
  readonly resource?: string;
};

export type AwsAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: Headers; readonly body: string }
  /** No answer arrived before the deadline. The service may have executed the request. */
  | { readonly kind: 'tooLate' }
  /** The caller lacks a permission. */
  | { readonly kind: 'denied' }
  /** There was no connection, it broke, or no credentials were available. */
  | { readonly kind: 'unreachable'; readonly message: string };

type Answered = Extract<AwsAnswer, { readonly kind: 'answer' }>;

type Headers = Readonly<Record<string, string>>;

/** Sends one POST request. Never throws and never retries. `deadlineMs` is on the clock's monotonic time. */
export type AwsCall = (request: AwsRequest, deadlineMs: number) => Promise<AwsAnswer>;

export type AwsCallOptions = {
  /** Only its credentials, signer and connections are used. */
  readonly client: SQSClient;
  readonly clock: Clock;
  readonly endpointOf: (service: AwsService) => string;
  /** Remembers denials. If absent, a denied request is sent again each time. */
  readonly access?: Access;
};

export function awsCall({ client, clock, endpointOf, access }: AwsCallOptions): AwsCall {
  return async (request, deadlineMs) => {
    const name = requestName(request);
    if (access?.isDenied(name)) return { kind: 'denied' };
    const timeout = new AbortController();
    const cancel = clock.setTimer(Math.max(0, deadlineMs - clock.monotonicMs()), () => timeout.abort());
    try {
      const signed = await signedRequest(client, request, new URL(endpointOf(request.service)));
      const { response } = await client.config.requestHandler.handle(signed, { abortSignal: timeout.signal });
      const { statusCode: status, headers, body: stream } = response;
      const body = await bodyText(stream, timeout.signal);
      if (status !== okStatus && isDenial(errorCode({ status, headers, body }))) {
        access?.denied(name, body);
        return { kind: 'denied' };
      }
      access?.granted(name);
      return { kind: 'answer', status, headers, body };
    } catch (error) {
      if (timeout.signal.aborted) return { kind: 'tooLate' };
      return { kind: 'unreachable', message: error instanceof Error ? error.message : String(error) };
    } finally {
      cancel();
    }
  };
}

/** IAM grants access by operation and resource; the path of a REST request names both. */
const requestName = ({ service, path, headers, resource = '' }: AwsRequest): string =>
  `${service}: ${headers['x-amz-target'] ?? path} ${resource}`.trimEnd();

type Handled = Parameters<SQSClient['config']['requestHandler']['handle']>[0];

async function signedRequest(client: SQSClient, request: AwsRequest, endpoint: URL): Promise<Handled> {
  const { service, path, headers, body } = request;
  // Pass no auth scheme: the client caches the first service and region that its signer is asked for, and would sign
  // its other calls with them.
  const signer = await client.config.signer();
  const { protocol, hostname, port, host } = endpoint;
  const plain = {
    method: 'POST',
    protocol,
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    ...(port && { port: Number(port) }),
    path,
    query: {},
    headers: { host, 'content-length': String(Buffer.byteLength(body)), ...headers },
    body,
  };
  return (await signer.sign(plain, { signingService: service })) as Handled;
}

async function bodyText(body: NodeJS.ReadableStream & { destroy?(): void }, signal: AbortSignal): Promise<string> {
  const stop = () => body.destroy?.();
  signal.addEventListener('abort', stop);
  try {
    return await text(body);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export type JsonAnswer =
  | { readonly kind: 'output'; readonly output: Readonly<Record<string, unknown>> }
  /** `code` is the service's error name without its namespace. */
  | { readonly kind: 'error'; readonly code: string; readonly message: string; readonly status: number }
  | Exclude<AwsAnswer, { readonly kind: 'answer' }>;

export type JsonRequest = {
  readonly service: 'ssm' | 'secretsmanager';
  /** The operation's full name, such as `AmazonSSM.GetParameter`. */
  readonly target: string;
  readonly input: unknown;
  /** The resource that IAM grants access to. */
  readonly resource?: string;
};

/** Calls a service that speaks AWS JSON 1.1. Source: Smithy, "AWS JSON 1.1 protocol". */
export async function awsJson(call: AwsCall, request: JsonRequest, deadlineMs: number): Promise<JsonAnswer> {
  const { service, target, input, resource } = request;
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
  const body = JSON.stringify(input);
  const answer = await call({ service, path: '/', headers, body, ...(resource && { resource }) }, deadlineMs);
  if (answer.kind !== 'answer') return answer;
  const output = jsonObject(answer.body);
  if (answer.status === okStatus && output) return { kind: 'output', output };
  const message = String(output?.message ?? output?.Message ?? '');
  return { kind: 'error', code: errorCode(answer), message, status: answer.status };
}

/** Returns the service's error name without its namespace. */
function errorCode({ status, headers, body }: Pick<Answered, 'status' | 'headers' | 'body'>): string {
  const named = String(jsonObject(body)?.__type ?? headers['x-amzn-errortype'] ?? `status ${status}`);
  const [name = ''] = named.slice(named.lastIndexOf('#') + 1).split(':', 1);
  return name;
}

const okStatus = 200;

/** Parses a JSON object; returns undefined for anything else. */
export function jsonObject(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
