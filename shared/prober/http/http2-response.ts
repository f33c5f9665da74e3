/**
 * The response of an HTTPS probe over HTTP/2, from its first frame to the one that decides the exchange. Source:
 * golang.org/x/net, http2/transport.go.
 */

import { atoi } from '../../core/go/text.ts';
import type { Head } from '../../http1/head.ts';
import { type ConnectionFault, errorCode, fault } from '../../http2/frames.ts';
import type { Block } from '../../http2/header-block.ts';
import type { Field } from '../../http2/hpack-table.ts';
import type { Data } from '../../http2/inbound.ts';
import { gathered } from '../../lib/gathered.ts';
import { awaitingHeadTimeout } from '../deadline.ts';
import { keptMessage } from '../kept-memory.ts';
import { type Exchanged, type ExchangeOptions, readingBodyTimeout } from './http-exchange.ts';

/** Go's limit for a response's header list. */
export const headerListBytesMax = 10 * 1024 * 1024;

type Breaking = {
  readonly failureClass?: 'HTTP_PROTOCOL' | 'CONNECT_RESET' | 'TIMEOUT';
  /** Go repeats the request on another connection. */
  readonly isRetried?: boolean;
};

/** Methods that return `Exchanged` return undefined while the exchange continues. */
export class ResponseStream {
  readonly #options: ExchangeOptions;
  readonly #startMs: number;
  #head: Head | undefined;
  #firstByteMs: number | undefined;
  #fields: Wanted = noFields;
  #informationalBytes = 0;
  #wantedBytes = 0;
  #bodyBytes = 0;
  #body = gathered(0);
  /** There was no memory for the fields of the response. */
  #isTooMuch = false;

  /** The request is sent now. */
  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#startMs = options.clock.monotonicMs();
  }

  /** Returns whether the fields of the response may take this many more bytes. */
  reserve(bytes: number): boolean {
    this.#isTooMuch ||= !this.#options.reserve(bytes);
    return !this.#isTooMuch;
  }

  field({ name, value = '' }: Field): void {
    const { lengths } = this.#fields;
    this.#fields =
      name === 'location'
        ? { location: value, ...this.#fields }
        : { ...this.#fields, lengths: [...lengths, value].slice(0, 2) };
  }

  headers(block: Block): Exchanged | ConnectionFault | undefined {
    this.#firstByteMs ??= this.#options.clock.monotonicMs() - this.#startMs;
    const next = this.#head === undefined ? this.#begin(block) : this.#takeTrailers(block);
    this.#fields = noFields;
    return next;
  }

  takesData(): boolean {
    return this.#head !== undefined;
  }

  data({ data, endStream }: Data): Exchanged | undefined {
    this.#body.add(data);
    this.#bodyBytes += data.length;
    const length = this.#lengthBytes();
    const isFull = this.#bodyBytes >= this.#wantedBytes && (length === undefined || length >= this.#wantedBytes);
    if (isFull) return this.#response();
    if (length !== undefined && this.#bodyBytes > length) return this.#response(tooLong);
    if (endStream) return this.#ended();
    this.#body.keep();
    return undefined;
  }

  /** The stream or the connection broke. */
  broken(message: string, { failureClass = 'HTTP_PROTOCOL', isRetried = false }: Breaking = {}): Exchanged {
    if (this.#head) return this.#response(message);
    return { kind: 'failed', failureClass, message, isRetried };
  }

  /** The deadline has passed. */
  late(): Exchanged {
    if (this.#head) return this.#response(readingBodyTimeout);
    return { kind: 'failed', failureClass: 'TIMEOUT', message: awaitingHeadTimeout };
  }

  #begin(block: Block): Exchanged | undefined {
    const status = statusOf(block);
    if (typeof status === 'string') return this.broken(status);
    if (status >= 100 && status <= 199) return this.#takeInformational(block);
    if (this.#isTooMuch) return unkept;
    const { location = '' } = this.#fields;
    const length = contentLength(this.#fields, block.endStream);
    this.#head = { status, location, framing: length === undefined ? closed : { kind: 'length', bytes: length } };
    this.#wantedBytes = this.#options.bodyBytesMax(this.#head);
    this.#body = gathered(this.#wantedBytes);
    if (this.#wantedBytes === 0) return this.#response();
    return block.endStream ? this.#ended() : undefined;
  }

  #takeInformational(block: Block): Exchanged | undefined {
    this.#informationalBytes += block.listBytes;
    if (block.endStream) return this.broken('1xx informational response with END_STREAM flag');
    return this.#informationalBytes > headerListBytesMax ? this.broken('header list too large') : undefined;
  }

  /** Trailers end the stream. Any other header block after the head ends the connection. */
  #takeTrailers({ endStream, pseudo }: Block): Exchanged | ConnectionFault {
    if (!endStream || pseudo.size > 0) return fault(errorCode.protocol, 'a header block within the body');
    return this.#ended();
  }

  /** The body is complete; it may be shorter than declared. */
  #ended(): Exchanged {
    const length = this.#lengthBytes();
    return this.#response(length !== undefined && this.#bodyBytes < length ? unexpectedEnd : undefined);
  }

  #lengthBytes(): number | undefined {
    return this.#head?.framing.kind === 'length' ? this.#head.framing.bytes : undefined;
  }

  #response(bodyError?: string): Exchanged {
    const { status, location } = this.#head ?? { status: 0, location: '' };
    const response = { status, location, body: this.#body.bytes(), bodyError };
    return { kind: 'response', firstByteMs: this.#firstByteMs ?? 0, response };
  }
}

const unkept: Exchanged = { kind: 'failed', failureClass: 'PROBER', message: keptMessage };

const closed: Head['framing'] = { kind: 'close' };
export const unexpectedEnd = 'unexpected EOF';
const tooLong = 'net/http: server replied with more than declared Content-Length; truncated';

/** The fields of one block that matter: the first location, and up to two lengths, because two count as none. */
type Wanted = { readonly location?: string; readonly lengths: readonly string[] };
const noFields: Wanted = { lengths: [] };

/** Returns the status, or what is wrong with the header block. */
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

/** Go accepts a length only if there is exactly one such field and its value is a number. */
function contentLength({ lengths }: Wanted, isEnded: boolean): number | undefined {
  const [only, more] = lengths;
  if (only === undefined) return isEnded ? 0 : undefined;
  const isLength = more === undefined && digits.test(only) && BigInt(only) <= lengthMax;
  return isLength ? Number(only) : undefined;
}
