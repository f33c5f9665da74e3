/**
 * A call of an AWS service that has no client here. The client of SSM alone would add 210 KB to the prober's bundle, for three operations of
 * which most deployments use none. Keys, signature and connections are those of a client that is there anyway.
 */
import { text } from 'node:stream/consumers';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Clock } from '../lib/clock.ts';
import { type Access, isDenial } from './access.ts';

export type AwsService = 'lambda' | 'ssm' | 'secretsmanager';

export type AwsRequest = {
  readonly service: AwsService;
  /** Encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** On what, where rights are given by it and the path does not say. */
  readonly resource?: string;
};

export type AwsAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: Headers; readonly body: string }
  /** Nothing came until the deadline; what was asked for may have been done. */
  | { readonly kind: 'tooLate' }
  /** The caller lacks a right. */
  | { readonly kind: 'denied' }
  /** No connection, no keys, or one that broke. */
  | { readonly kind: 'unreachable'; readonly message: string };

type Answered = Extract<AwsAnswer, { readonly kind: 'answer' }>;

type Headers = Readonly<Record<string, string>>;

/** One POST; never throws, and sends nothing twice. `deadlineMs` is on the clock's monotonic time. */
export type AwsCall = (request: AwsRequest, deadlineMs: number) => Promise<AwsAnswer>;

export type AwsCallOptions = {
  /** Its keys, its signer and its connections; of it nothing else is used. */
  readonly client: SQSClient;
  readonly clock: Clock;
  readonly endpointOf: (service: AwsService) => string;
  /** Remembers what is denied; absent: it is sent, and denied, each time. */
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

/** Rights are by operation and resource; a path of REST names both. */
const requestName = ({ service, path, headers, resource = '' }: AwsRequest): string =>
  `${service}: ${headers['x-amz-target'] ?? path} ${resource}`.trimEnd();

type Handled = Parameters<SQSClient['config']['requestHandler']['handle']>[0];

async function signedRequest(client: SQSClient, request: AwsRequest, endpoint: URL): Promise<Handled> {
  const { service, path, headers, body } = request;
  // Without a scheme: the client keeps the first service and region that its signer is asked for, and would sign its own calls with them.
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
  /** `code`: the service's name of the error, without its namespace. */
  | { readonly kind: 'error'; readonly code: string; readonly message: string; readonly status: number }
  | Exclude<AwsAnswer, { readonly kind: 'answer' }>;

export type JsonRequest = {
  readonly service: 'ssm' | 'secretsmanager';
  /** As the service calls it: `AmazonSSM.GetParameter`. */
  readonly target: string;
  readonly input: unknown;
  /** On what, where rights are given by it. */
  readonly resource?: string;
};

/** A call of a service that speaks AWS JSON 1.1. Source: Smithy, "AWS JSON 1.1 protocol". */
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

/** The service's name of the error, without its namespace. */
function errorCode({ status, headers, body }: Pick<Answered, 'status' | 'headers' | 'body'>): string {
  const named = String(jsonObject(body)?.__type ?? headers['x-amzn-errortype'] ?? `status ${status}`);
  const [name = ''] = named.slice(named.lastIndexOf('#') + 1).split(':', 1);
  return name;
}

const okStatus = 200;

/** undefined: it is something else. */
export function jsonObject(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
