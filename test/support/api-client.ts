/**
 * The client of the API that tests have: it asks a server, or a handler of this process, and reads the answer to its
 * end.
 */
import assert from 'node:assert/strict';

/** Where the API is served: the address of a server, or what has the handler. */
export type Served = string | { readonly fetch: (request: Request) => Response | Promise<Response> };

export type RequestHeaders = Readonly<Record<string, string>>;

/** A JSON pointer into the body or the name of a query parameter, and what is wrong there. */
export type FieldError = { readonly pointer?: string; readonly parameter?: string; readonly detail: string };

/** A target, a list or a problem. Which of the fields an answer has depends on its route. */
export type AnswerBody = {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
    readonly continue?: string;
    readonly order?: string;
  };
  readonly spec: { readonly host: string; readonly lifecycle: string; readonly containers: readonly object[] };
  readonly items: readonly AnswerBody[];
  readonly type: string;
  readonly detail: string;
  readonly errors: readonly FieldError[];
};

export type Answer<Body = AnswerBody> = {
  readonly status: number;
  readonly headers: Headers;
  readonly etag: string | null;
  readonly warning: string | null;
  readonly text: string;
  readonly body: Body;
  /** The pointer or the parameter of each error. */
  readonly places: readonly (string | undefined)[];
};

export async function answerOf<Body>(response: Response): Promise<Answer<Body>> {
  const { status, headers } = response;
  const text = await response.text();
  const body = headers.get('content-type')?.match(/\bjson\b/) && text !== '' ? JSON.parse(text) : undefined;
  const errors: readonly FieldError[] = body?.errors ?? [];
  return {
    status,
    headers,
    etag: headers.get('etag'),
    warning: headers.get('warning'),
    text,
    body,
    places: errors.map(({ pointer, parameter }) => pointer ?? parameter),
  };
}

export const targetPath = (name: string, namespace = 'default') => `/v1/namespaces/${namespace}/targets/${name}`;

/** `body`: a string is sent as it is; anything else as JSON. */
export function apiRequest(url: string, method: string, body?: unknown, headers: RequestHeaders = {}): Request {
  if (body === undefined) return new Request(url, { method, headers });
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  return new Request(url, { method, headers: { 'content-type': type, ...headers }, body: sent });
}

export async function askApi<Body = AnswerBody>(
  served: Served,
  method: string,
  path: string,
  ...sent: [body?: unknown, headers?: RequestHeaders]
): Promise<Answer<Body>> {
  const isServer = typeof served === 'string';
  const request = apiRequest(`${isServer ? served : 'http://127.0.0.1'}${path}`, method, ...sent);
  return answerOf(await (isServer ? fetch(request) : served.fetch(request)));
}

/** Registers a new target of this spec in the namespace `default`. */
export async function register(served: Served, name: string, spec: object): Promise<void> {
  const { status, text } = await askApi(served, 'PUT', targetPath(name), { spec });
  assert.equal(status, 201, text);
}
