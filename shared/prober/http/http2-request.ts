/**
 * The request of an HTTPS probe over HTTP/2, as Go's client writes it. Source: golang.org/x/net,
 * internal/httpcommon/request.go.
 */

import { toText } from '../../core/go/bytes.ts';
import { goQuote } from '../../core/go/text.ts';
import { flag, frame, frameType } from '../../http2/frames.ts';
import { encodeHeaders, type SentField } from '../../http2/hpack.ts';
import { headerValues, type RequestHead, sentFields } from './request.ts';

/** The only stream of a connection. */
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
