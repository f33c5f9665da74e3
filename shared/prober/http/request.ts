/**
 * The head of a probe's request in both versions of HTTP, with the fields that Go's client would send. Names and values
 * are UTF-8 bytes, one character each. Sources: net/http, request.go and transport.go; golang.org/x/net,
 * internal/httpcommon/request.go.
 */
import { toText } from '../../core/go/bytes.ts';
import { goQuote, trimAscii } from '../../core/go/text.ts';
import type { RequestHeader } from '../../core/spec/handler-http-get.ts';
import { hasListedToken } from '../../http1/head.ts';
import { flag, frame, frameType } from '../../http2/frames.ts';
import { encodeHeaders, type SentField } from '../../http2/hpack.ts';
import { memoized } from '../../lib/memoized.ts';
import { type HostField, hostField } from '../host-name.ts';
import type { HttpUrl } from './url.ts';

export type Headers = readonly RequestHeader[];

export type RequestHead = {
  readonly url: HttpUrl;
  readonly headers: Headers;
  /** Sent as Host; empty: the URL's host. A text, not bytes. */
  readonly hostOverride: string;
};

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Control characters except the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const forbiddenInValue = /[\0-\x08\x0a-\x1f\x7f]/;

/** Whether a header may have this value, in text or in bytes. */
export const isHeaderValue = (value: string): boolean => !forbiddenInValue.test(value);

/** Why Go would not send these headers; undefined: it would. */
export function headersProblem(headers: Headers): string | undefined {
  for (const [name, value] of headers) {
    if (!token.test(name)) return `net/http: invalid header field name ${goQuote(toText(name))}`;
    if (!isHeaderValue(value)) return `net/http: invalid header field value for ${goQuote(toText(name))}`;
  }
  return undefined;
}

export type SentHead = { readonly kind: 'head'; readonly text: string } | Extract<HostField, { kind: 'refused' }>;

/** The HTTP/1.1 head as sent, including the empty line, or why Go would not send it. */
export const sentHead1 = memoized((request: RequestHead): SentHead => {
  const host = sentHost(request);
  if (host.kind === 'refused') return host;
  const { url, headers } = request;
  let text = `GET ${url.target} HTTP/1.1\r\nHost: ${host.host}\r\n`;
  for (const [name, value] of sentFields(request, notInHttp1)) text += `${name}: ${trimAscii(value)}\r\n`;
  return { kind: 'head', text: `${text}${closes(headers) ? 'Connection: close\r\n' : ''}\r\n` };
});

/** Fields that Go writes by itself, or omits for a request without a body. */
const notInHttp1: ReadonlySet<string> = new Set(['Host', 'Content-Length', 'Transfer-Encoding', 'Trailer']);

/** The fields to send, except those of `leftOut`: of several user agents the first, and none if it is empty. */
export function sentFields({ url, headers }: RequestHead, leftOut: ReadonlySet<string>): Headers {
  const sent: (readonly [string, string])[] = [];
  let agentSeen = false;
  for (const [name, value] of headers) {
    if (leftOut.has(name)) continue;
    const isLeftOut = name === 'User-Agent' && (agentSeen || value === '');
    agentSeen ||= name === 'User-Agent';
    if (!isLeftOut) sent.push([name, value]);
  }
  if (url.userinfo && !headerValue(headers, 'Authorization')) return withBasicAuth(sent, url.userinfo);
  return sent;
}

function withBasicAuth(sent: Headers, { name, password = '' }: NonNullable<HttpUrl['userinfo']>): Headers {
  const credentials = Buffer.from(`${name}:${password}`, 'latin1').toString('base64');
  return [...sent.filter(([field]) => field !== 'Authorization'), ['Authorization', `Basic ${credentials}`]];
}

/** The value of the Host field, or why Go would not send the request. */
export const sentHost = ({ url, hostOverride }: RequestHead): HostField =>
  hostField(hostOverride === '' ? url.host : hostOverride);

/**
 * Every probe has its own connection and asks to close it, unless the headers already do or ask for another protocol.
 */
function closes(headers: Headers): boolean {
  const connection = headerValues(headers, 'Connection');
  if (connection.length === 0) return true;
  if (/(^|[ ,\t])close($|[ ,\t])/i.test(connection[0] ?? '')) return false;
  return !(headerValue(headers, 'Upgrade') && hasListedToken(connection, 'upgrade'));
}

export const headerValues = (headers: Headers, name: string): readonly string[] =>
  headers.filter(([field]) => field === name).map(([, value]) => value);

/** The first, or empty. */
export const headerValue = (headers: Headers, name: string): string =>
  headers.find(([field]) => field === name)?.[1] ?? '';

// The request of an HTTPS probe over HTTP/2, as Go's client writes it. Source: golang.org/x/net,
// internal/httpcommon/request.go.

/** The only stream of an HTTP/2 connection. */
export const streamId = 1;

/** A peer accepts frames of 16 KiB until it announces another size. */
const sentFrameBytesMax = 16 * 1024;

/** HEADERS that ends the stream, and as many CONTINUATION frames as needed. */
export function requestFrames(request: RequestHead, host: string): readonly Buffer[] {
  const block = encodeHeaders(fields2(request, host));
  const frames: Buffer[] = [];
  for (let at = 0; at === 0 || at < block.length; at += sentFrameBytesMax) {
    const isLast = at + sentFrameBytesMax >= block.length;
    const flags = (at === 0 ? flag.endStream : 0) | (isLast ? flag.endHeaders : 0);
    const type = at === 0 ? frameType.headers : frameType.continuation;
    frames.push(frame(type, { flags, streamId }, block.subarray(at, at + sentFrameBytesMax)));
  }
  return frames;
}

/** Connection fields that HTTP/2 does not have: Go does not send them, and refuses those with another meaning. */
export function refusedInHttp2({ headers }: RequestHead): string | undefined {
  const upgrade = headerValues(headers, 'Upgrade');
  if (upgrade[0] && upgrade[0] !== 'chunked') return refusedField('Upgrade', upgrade);
  const encoding = headerValues(headers, 'Transfer-Encoding');
  if (encoding.length > 1 || (encoding[0] && encoding[0] !== 'chunked'))
    return refusedField('Transfer-Encoding', encoding);
  const connection = headerValues(headers, 'Connection');
  if (connection.length > 1 || !/^(|close|keep-alive)$/i.test(connection[0] ?? ''))
    return refusedField('Connection', connection);
  return undefined;
}

const refusedField = (name: string, values: readonly string[]): string =>
  `http2: invalid ${name} request header: [${values.map((value) => goQuote(toText(value))).join(' ')}]`;

const notInHttp2: ReadonlySet<string> = new Set([
  ...['Host', 'Content-Length', 'Connection', 'Proxy-Connection', 'Transfer-Encoding', 'Upgrade', 'Keep-Alive'],
]);

/** Names and values are UTF-8 bytes, one character each, and values are not trimmed. */
function fields2(request: RequestHead, host: string): readonly SentField[] {
  const fields: SentField[] = [
    [':authority', host],
    [':method', 'GET'],
    [':path', request.url.target],
    [':scheme', 'https'],
  ];
  for (const [name, value] of sentFields(request, notInHttp2)) {
    if (name === 'Cookie') for (const crumb of crumbs(value)) fields.push(['cookie', crumb]);
    else fields.push([name.toLowerCase(), value]);
  }
  return fields;
}

/** Go sends each pair of a cookie separately; the last one may not be empty. */
function crumbs(cookie: string): readonly string[] {
  const pairs = cookie.split(';').map((pair, at) => (at === 0 ? pair : pair.replace(/^ +/, '')));
  return pairs.at(-1) === '' ? pairs.slice(0, -1) : pairs;
}
