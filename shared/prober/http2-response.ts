/** The response of an HTTPS probe over HTTP/2: what has arrived of it, until that decides the exchange. Source: golang.org/x/net, http2/transport.go. */
import { atoi } from '../core/go-text.ts';
import { type ConnectionFault, errorCode, fault } from '../http2/frames.ts';
import type { Block } from '../http2/header-block.ts';
import type { Field } from '../http2/hpack-table.ts';
import type { Data } from '../http2/inbound-events.ts';
import { gathered } from '../lib/gathered.ts';
import { awaitingHeadTimeout, type Exchanged, type ExchangeOptions, readingBodyTimeout } from './http-exchange.ts';
import type { Head } from './http1-head.ts';
import { keptMessage } from './kept-memory.ts';

/** Go's limit of a response's header list. */
export const headerListBytesMax = 10 * 1024 * 1024;

type Breaking = {
  readonly failureClass?: 'HTTP_PROTOCOL' | 'CONNECT_RESET';
  /** Go asks once more, on another connection. */
  readonly isRetried?: boolean;
};

/** What is known of the response. Each function returns what the exchange ends with; undefined: it goes on. */
export type ResponseStream = {
  /** Whether the fields of the response may take so many bytes more. */
  readonly reserve: (bytes: number) => boolean;
  readonly field: (field: Field) => void;
  readonly headers: (block: Block) => Exchanged | ConnectionFault | undefined;
  readonly takesData: () => boolean;
  readonly dataWanted: () => number;
  readonly data: (data: Data) => Exchanged | undefined;
  readonly broken: (why: string, breaking?: Breaking) => Exchanged;
  readonly late: () => Exchanged;
};

export function responseStream({ bodyBytesMax, reserve }: ExchangeOptions, elapsedMs: () => number): ResponseStream {
  let head: Head | undefined;
  let firstByteMs: number | undefined;
  let fields: Wanted = noFields;
  let informationalBytes = 0;
  let wantedBytes = 0;
  let bodyBytes = 0;
  let body = gathered(0);
  let isTooMuch = false;

  const response = (bodyError?: string): Exchanged => {
    const { status, location } = head ?? { status: 0, location: '' };
    const error = bodyError !== undefined && { bodyError };
    const answer = { status, location, body: body.bytes(), ...error };
    return { kind: 'response', firstByteMs: firstByteMs ?? 0, response: answer };
  };
  const broken = (message: string, { failureClass = 'HTTP_PROTOCOL', isRetried = false }: Breaking = {}): Exchanged =>
    head ? response(message) : { kind: 'failed', failureClass, message, ...(isRetried && { isRetried: true }) };

  const begin = (block: Block): Exchanged | undefined => {
    const judged = statusOf(block);
    if (typeof judged === 'string') return broken(judged);
    if (judged >= 100 && judged <= 199) return informational(block);
    if (isTooMuch) return unkept;
    const length = contentLength(fields, block.endStream);
    head = {
      status: judged,
      location: fields.location ?? '',
      framing: length === undefined ? closed : { kind: 'length', bytes: length },
    };
    wantedBytes = bodyBytesMax(head);
    body = gathered(wantedBytes);
    if (block.endStream)
      return response(length !== undefined && length > 0 && wantedBytes > 0 ? unexpectedEnd : undefined);
    return wantedBytes === 0 ? response() : undefined;
  };
  const informational = (block: Block): Exchanged | undefined => {
    informationalBytes += block.listBytes;
    if (block.endStream) return broken('1xx informational response with END_STREAM flag');
    return informationalBytes > headerListBytesMax ? broken('header list too large') : undefined;
  };
  const lengthBytes = () => (head?.framing.kind === 'length' ? head.framing.bytes : undefined);

  return {
    reserve: (bytes) => {
      isTooMuch ||= !reserve(bytes);
      return !isTooMuch;
    },
    field: ({ name, value = '' }) => {
      fields =
        name === 'location'
          ? { location: value, ...fields }
          : { ...fields, lengths: [...fields.lengths, value].slice(0, 2) };
    },
    headers: (block) => {
      firstByteMs ??= elapsedMs();
      const next = head === undefined ? begin(block) : ended(block);
      fields = noFields;
      return next;
    },
    takesData: () => head !== undefined,
    dataWanted: () => Math.max(0, wantedBytes - bodyBytes),
    data: ({ data, dataBytes, endStream }) => {
      body.add(data);
      bodyBytes += dataBytes;
      const length = lengthBytes();
      const isFull = bodyBytes >= wantedBytes && (length === undefined || length >= wantedBytes);
      if (isFull) return response();
      if (length !== undefined && bodyBytes > length) return response(tooLong);
      if (!endStream) return void body.keep();
      return response(length !== undefined && bodyBytes < length ? unexpectedEnd : undefined);
    },
    broken,
    late: () =>
      head ? response(readingBodyTimeout) : { kind: 'failed', failureClass: 'TIMEOUT', message: awaitingHeadTimeout },
  };

  /** Trailers end the stream; anything else in their place ends the connection. */
  function ended({ endStream, pseudo }: Block): Exchanged | ConnectionFault {
    if (!endStream || pseudo.size > 0) return fault(errorCode.protocol, 'a header block within the body');
    const length = lengthBytes();
    return response(length !== undefined && bodyBytes < length ? unexpectedEnd : undefined);
  }
}

const unkept: Exchanged = { kind: 'failed', failureClass: 'PROBER', message: keptMessage };

const closed: Head['framing'] = { kind: 'close' };
export const unexpectedEnd = 'unexpected EOF';
const tooLong = 'net/http: server replied with more than declared Content-Length; truncated';

/** Of the fields of one block: the first location, and up to two lengths, since two count as none. */
type Wanted = { readonly location?: string; readonly lengths: readonly string[] };
const noFields: Wanted = { lengths: [] };

/** The status, or what is wrong with the header block. */
function statusOf({ pseudo, isTruncated }: Block): number | string {
  if (isTruncated) return 'http2: response header list larger than advertised limit';
  const status = pseudo.get(':status') ?? '';
  if (status === '') return 'malformed response from server: missing status pseudo header';
  const parsed = atoi(status);
  return parsed.kind === 'integer'
    ? parsed.value
    : 'malformed response from server: malformed non-numeric status pseudo header';
}

const lengthMax = 2n ** 63n - 1n;
const digits = /^\d{1,4096}$/;

/** Go takes a length for one only if there is exactly one field and it is a number. */
function contentLength({ lengths }: Wanted, isEnded: boolean): number | undefined {
  const [only, more] = lengths;
  if (only === undefined) return isEnded ? 0 : undefined;
  const isLength = more === undefined && digits.test(only) && BigInt(only) <= lengthMax;
  return isLength ? Number(only) : undefined;
}
