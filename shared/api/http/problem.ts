/** RFC 9457 problems: every refusal of the API is one and names each invalid field by its JSON Pointer. */
import type { Excess } from '../../core/shards/quota.ts';
import type { FieldProblem } from '../../core/spec/field-problem.ts';
import './zod-openapi.ts';
import * as z from 'zod';

/** An invalid query parameter or header. */
export type ParameterError = { readonly parameter: string; readonly detail: string };

export type Problem = {
  readonly kind: 'problem';
  readonly status: ProblemStatus;
  /** The end of the problem's type URI. */
  readonly slug: string;
  readonly detail: string;
  readonly errors?: readonly (FieldProblem | ParameterError)[];
  /** The limit that would be exceeded, and the numbers. */
  readonly quota?: Excess;
  readonly headers?: Readonly<Record<string, string>>;
};

export const problemTitles = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

export type ProblemStatus = keyof typeof problemTitles;

export type Checked<Value> = { readonly kind: 'ok'; readonly value: Value } | Problem;

export const ok = <Value>(value: Value): { readonly kind: 'ok'; readonly value: Value } => ({ kind: 'ok', value });

/** Enough to correct a manifest or a query, in an answer of bounded size. */
export const errorsMax = 50;

export function problem(status: ProblemStatus, slug: string, detail: string): Problem {
  return { kind: 'problem', status, slug, detail };
}

export function invalidFields(errors: readonly FieldProblem[]): Problem {
  const detail = 'The body is well-formed, but not all of it is valid.';
  return { ...problem(422, 'invalid-fields', detail), errors: errors.slice(0, errorsMax) };
}

export function invalidParameters(errors: readonly ParameterError[]): Problem {
  return { ...problem(400, 'invalid-parameters', 'Not all parameters are valid.'), errors: errors.slice(0, errorsMax) };
}

export function quotaExceeded(quota: Excess): Problem {
  const { limit, max, now, asked } = quota;
  const detail = `${limit} is ${max}: there are ${now}, and this asks for ${asked} more.`;
  return { ...problem(429, 'quota-exceeded', detail), quota };
}

export const problemMediaType = 'application/problem+json';

/** An answer is for its caller only, and of the type that it declares. */
export const everywhere = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

export function problemResponse(refusal: Problem): Response {
  const { status, headers, body } = problemText(refusal);
  return new Response(body, { status, headers });
}

/** A problem as it is sent, for a server that has no Response to send. */
export function problemText(refusal: Problem) {
  const { status, headers } = refusal;
  return {
    status,
    headers: { 'content-type': problemMediaType, ...everywhere, ...headers },
    body: `${JSON.stringify(problemDocument(refusal))}\n`,
  } as const;
}

/** The shape of a problem document, for the OpenAPI document. */
export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    errors: z
      .array(
        z.object({
          pointer: z.string().optional().openapi({ description: 'JSON Pointer of the wrong field.' }),
          parameter: z.string().optional().openapi({ description: 'Name of the wrong parameter or header.' }),
          detail: z.string(),
        }),
      )
      .optional(),
    quota: z
      .object({ limit: z.string(), max: z.number(), now: z.number(), asked: z.number() })
      .optional()
      .openapi({ description: 'With 429: the limit, its value, what there is, and what was asked for on top.' }),
  })
  .openapi('Problem', { description: 'RFC 9457' });

/** The RFC 9457 document of a problem. */
export function problemDocument({ status, slug, detail, errors, quota }: Problem) {
  return {
    type: `urn:probelet:problem:${slug}`,
    title: problemTitles[status],
    status,
    detail,
    ...(errors && { errors }),
    ...(quota && { quota }),
  };
}

/** A JSON answer; `headers` beside the content type. */
export function jsonResponse(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return jsonTextResponse(status, JSON.stringify(body), headers);
}

/** The same for a body that is JSON text already. */
export function jsonTextResponse(
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(`${json}\n`, {
    status,
    headers: { 'content-type': 'application/json', ...everywhere, ...headers },
  });
}

/** The client has disconnected, or its chunks are malformed: the service cannot correct either. */
export const brokenOff = problem(400, 'malformed-body', 'The body broke off.');
