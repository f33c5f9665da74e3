/**
 * Converts an event of an HTTP API (payload format 2.0) to a Request, and a Response to the result that API Gateway
 * expects. hono is removing its adapter, which also mistakes a malformed event for one of another service. Source:
 * "Create AWS Lambda proxy integrations for HTTP APIs".
 */
import * as z from 'zod';
import { pathFault } from './authorized-path.ts';

const eventSchema = z.object({
  version: z.literal('2.0'),
  rawPath: z.string().startsWith('/'),
  routeKey: z.string().optional(),
  pathParameters: z.record(z.string(), z.string()).nullish(),
  rawQueryString: z.string().default(''),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().optional(),
  isBase64Encoded: z.boolean().default(false),
  requestContext: z.object({
    domainName: z.string().default('localhost'),
    http: z.object({ method: z.string().min(1), path: z.string().optional() }),
    authorizer: z
      .object({
        iam: z.object({ userArn: z.string().nullish(), callerId: z.string().nullish() }).nullish(),
        jwt: z.object({ claims: z.record(z.string(), z.unknown()).nullish() }).nullish(),
        lambda: z.unknown(),
      })
      .partial()
      .nullish(),
  }),
});

type HttpEvent = z.infer<typeof eventSchema>;

export type DecodedHttpEvent =
  /** `caller` is the identity that API Gateway authenticated; absent if it did not authenticate. */
  | { readonly kind: 'request'; readonly request: Request; readonly caller?: string }
  /** The request is invalid. */
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'malformed'; readonly detail: string };

export function decodeHttpEvent(event: unknown): DecodedHttpEvent {
  const parsed = eventSchema.safeParse(event);
  if (!parsed.success) return { kind: 'malformed', detail: z.prettifyError(parsed.error) };
  const { requestContext, ...routed } = parsed.data;
  const { method, path: contextPath } = requestContext.http;
  const fault = pathFault({ ...routed, method, contextPath });
  if (fault !== undefined) return { kind: 'refused', detail: fault };
  try {
    const caller = callerOf(parsed.data);
    return { kind: 'request', request: requestOf(parsed.data), ...(caller !== undefined && { caller }) };
  } catch (error) {
    // A header or method that HTTP does not allow.
    return { kind: 'malformed', detail: error instanceof Error ? error.message : String(error) };
  }
}

function requestOf({ rawPath, rawQueryString, headers, body, isBase64Encoded, requestContext }: HttpEvent): Request {
  const { domainName, http } = requestContext;
  const query = rawQueryString === '' ? '' : `?${rawQueryString}`;
  const hasBody = body !== undefined && http.method !== 'GET' && http.method !== 'HEAD';
  const url = new URL(`https://${domainName}${rawPath}${query}`);
  return new Request(url, {
    method: http.method,
    headers,
    ...(hasBody && { body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8') }),
  });
}

/** The identity from IAM, a token, or the deployment's authorizer function. */
function callerOf({ requestContext }: HttpEvent): string | undefined {
  const { iam, jwt, lambda } = requestContext.authorizer ?? {};
  if (iam) return iam.userArn ?? iam.callerId ?? 'iam';
  if (jwt) return String(jwt.claims?.sub ?? jwt.claims?.client_id ?? 'jwt');
  return lambda === undefined || lambda === null ? undefined : 'authorizer';
}

export type HttpAnswer = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: false;
};

/** The API's responses are text and set no cookies. */
export async function encodeResponse(response: Response): Promise<HttpAnswer> {
  const body = await response.text();
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body, isBase64Encoded: false };
}
