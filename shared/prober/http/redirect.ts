/**
 * Which redirects kubelet follows (nine at most, on the first URL's host name), and what it sends again. Sources:
 * pkg/probe/http, Go's net/http.
 */

import { toText } from '../../core/go/bytes.ts';
import { goQuote } from '../../core/go/text.ts';
import { resolveUrl } from '../../core/go/url.ts';
import { type Headers, headerValue, type RequestHead } from './request.ts';
import { type HttpUrl, httpUrl, withoutPassword, withoutUserinfo } from './url.ts';

/** Requests of one attempt; a redirect in the last answer is not followed. */
const requestsMax = 10;

export type Hop = RequestHead & {
  /**
   * The first request: its host name binds every redirect, and its headers are sent again, less those dropped on the
   * way.
   */
  readonly first: RequestHead;
  /** Requests sent so far, this one included. */
  readonly requests: number;
};

export type NextStep =
  /** The response is the answer. */
  | { readonly kind: 'stay' }
  | { readonly kind: 'follow'; readonly hop: Hop }
  | { readonly kind: 'failed'; readonly message: string };

export const firstHop = (request: RequestHead): Hop => ({ ...request, first: request, requests: 1 });

const stay: NextStep = { kind: 'stay' };
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** `location`: one character per byte. */
export function nextStep(hop: Hop, status: number, location: string): NextStep {
  if (location === '' || !redirects.has(status)) return stay;
  const text = toText(location);
  const resolved = resolveUrl(hop.url.text, location);
  if (resolved === undefined)
    return failed(withoutPassword(hop.url), `failed to parse Location header ${goQuote(text)}`);
  const url = httpUrl(resolved.url);
  if (url.hostname !== hop.first.url.hostname) return stay;
  if (hop.requests >= requestsMax) return failed(text, `stopped after ${requestsMax} redirects`);
  const first = fieldsSentOn(hop.first, url, status);
  return {
    kind: 'follow',
    hop: {
      url,
      headers: redirectedHeaders(first, hop.url, url),
      // A given Host belongs to the server that was asked, so it is kept only if the redirect names no other server.
      hostOverride: resolved.isAbsolute ? '' : hop.hostOverride,
      first,
      requests: hop.requests + 1,
    },
  };
}

const failed = (url: string, why: string): NextStep => ({ kind: 'failed', message: `Get ${goQuote(url)}: ${why}` });

/**
 * Once a redirect has turned the request into a plain GET, the fields that describe a body are dropped for good. So are
 * secrets once the request has left the first URL's scheme, host or port: they were not meant for that server, and over
 * HTTP anyone on the path could read them.
 */
function fieldsSentOn(first: RequestHead, to: HttpUrl, status: number): RequestHead {
  const keepsBody = status === 307 || status === 308;
  const keepsSecrets = isSameOrigin(first.url, to);
  const headers = first.headers.filter(
    ([name, , kind]) => (keepsBody || !bodyFields.has(name)) && (keepsSecrets || kind !== 'secret'),
  );
  return { ...first, headers };
}

const isSameOrigin = (one: HttpUrl, other: HttpUrl): boolean =>
  one.scheme === other.scheme && one.hostname === other.hostname && one.port === other.port;

const bodyFields: ReadonlySet<string> = new Set([
  ...['Content-Encoding', 'Content-Language', 'Content-Location', 'Content-Type'],
]);

function redirectedHeaders({ headers }: RequestHead, from: HttpUrl, to: HttpUrl): Headers {
  // The URL of an HTTPS request is not sent over HTTP (RFC 7231, section 5.5.2).
  if (from.scheme === 'https' && to.scheme === 'http') return headers;
  const referer = headerValue(headers, 'Referer') || withoutUserinfo(from);
  return [...headers.filter(([name]) => name !== 'Referer'), ['Referer', referer]];
}
