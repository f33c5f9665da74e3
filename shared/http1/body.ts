/** Reads the body of an HTTP/1 response up to a limit. A malformed body is a prober error, reported in Go's words. */
import { trimAsciiEnd } from '../core/go/text.ts';
import { type Gathered, gathered } from '../lib/gathered.ts';
import { FieldReader, type Keeping, keptNames } from './fields.ts';
import type { Framing } from './head.ts';

export type BodyReader = {
  /**
   * Takes the next bytes. Returns `done` once the wanted part of the body is complete. `before` is the number of bytes
   * that preceded these in the same piece, as the rest of the head.
   */
  readonly take: (bytes: Buffer, before?: number) => BodyProgress;
  /** The peer has closed its sending side. */
  readonly end: () => Exclude<BodyProgress, 'more'>;
  readonly body: () => Buffer;
};

export type BodyProgress = 'more' | 'done' | { readonly kind: 'broken'; readonly message: string };

const broken = (message: string): Exclude<BodyProgress, 'more' | 'done'> => ({ kind: 'broken', message });
const unexpectedEnd = broken('unexpected EOF');

/** Reads at most `bytesMax` bytes of the body and never examines what follows. */
export function bodyReader(framing: Exclude<Framing, { readonly kind: 'none' }>, bytesMax: number): BodyReader {
  switch (framing.kind) {
    case 'length':
      return plainReader(Math.min(framing.bytes, bytesMax), unexpectedEnd);
    case 'close':
      return plainReader(bytesMax, 'done');
    case 'chunked':
      return new ChunkedReader(bytesMax);
  }
}

const nothing: Buffer = Buffer.alloc(0);

function plainReader(bytesMax: number, atEnd: Exclude<BodyProgress, 'more'>): BodyReader {
  const content = gathered(bytesMax);
  const take = (bytes: Buffer): BodyProgress => {
    content.add(bytes);
    if (content.isFull()) return 'done';
    content.keep();
    return 'more';
  };
  return { take, end: () => atEnd, body: content.bytes };
}

/** The size of Go's read buffer, which Go refills when it is empty. A chunk line or trailer has to fit into it. */
const lineBytesMax = 4096;
/** The limit of overhead beyond 16 bytes a chunk and twice its content. It stops a peer that sends only chunk heads. */
const excessBytesMax = 16 * 1024;

type ChunkState = 'size' | 'content' | 'contentEnd' | 'trailer';

/**
 * Follows Go's chunkedReader: chunk lines must end in CRLF, and extensions are dropped. If the limit falls on the end
 * of a chunk, the next chunk line still counts if Go's buffer holds the whole line, but it is not waited for.
 */
class ChunkedReader implements BodyReader {
  readonly #content: Gathered;
  #state: ChunkState = 'size';
  /** The bytes that have arrived but are not yet consumed. */
  #pending: Buffer = nothing;
  /** The bytes of the current chunk that are still to come. */
  #remaining = 0;
  #excess = 0;
  /** The size of the newest piece, including the bytes that preceded the body. */
  #pieceBytes = 0;

  constructor(bytesMax: number) {
    this.#content = gathered(bytesMax);
  }

  take(bytes: Buffer, before = 0): BodyProgress {
    this.#pieceBytes = before + bytes.length;
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    for (;;) {
      const progress = this.#step();
      if (progress === undefined)
        return this.#content.isFull() && this.#state !== 'trailer' ? 'done' : this.#awaitMore();
      if (progress !== 'more') return progress;
    }
  }

  end(): Exclude<BodyProgress, 'more'> {
    return unexpectedEnd;
  }

  body(): Buffer {
    return this.#content.bytes();
  }

  /** Takes one step. Returns undefined if it needs more bytes. */
  #step(): BodyProgress | undefined {
    switch (this.#state) {
      case 'size':
        return this.#takeSize();
      case 'content':
        return this.#takeContent();
      case 'contentEnd':
        return this.#takeContentEnd();
      case 'trailer':
        return readTrailer(this.#pending);
    }
  }

  #takeSize(): BodyProgress | undefined {
    const line = chunkLine(this.#inSight());
    if (typeof line !== 'string') return line;
    this.#consume(line.length + 2);
    const size = chunkSize(line);
    if (typeof size === 'string') return broken(size);
    this.#excess = Math.max(0, this.#excess + line.length + 2 - 16 - 2 * size);
    if (this.#excess > excessBytesMax) return broken('chunked encoding contains too much non-data');
    this.#remaining = size;
    this.#state = size === 0 ? 'trailer' : 'content';
    return 'more';
  }

  #takeContent(): BodyProgress | undefined {
    if (this.#content.isFull()) return 'done';
    if (this.#pending.length === 0) return undefined;
    const taken = this.#content.add(this.#pending.subarray(0, this.#remaining));
    this.#consume(taken);
    this.#remaining -= taken;
    if (this.#remaining === 0) this.#state = 'contentEnd';
    return 'more';
  }

  #takeContentEnd(): BodyProgress | undefined {
    if (this.#inSight().length < 2) return undefined;
    if (this.#pending.toString('latin1', 0, 2) !== '\r\n') return broken('malformed chunked encoding');
    this.#consume(2);
    this.#state = 'size';
    return 'more';
  }

  /**
   * Returns what Go can examine without reading: all pending bytes while content is wanted, and afterwards only the
   * rest of its buffer.
   */
  #inSight(): Buffer {
    if (!this.#content.isFull()) return this.#pending;
    const read = this.#pieceBytes - this.#pending.length;
    return this.#pending.subarray(0, (lineBytesMax - (read % lineBytesMax)) % lineBytesMax);
  }

  #consume(bytes: number): void {
    this.#pending = this.#pending.subarray(bytes);
  }

  /** Copies the pending bytes, which are less than a chunk line. A view would keep the whole received piece alive. */
  #awaitMore(): BodyProgress {
    this.#content.keep();
    this.#pending = this.#pending.length === 0 ? nothing : Buffer.from(this.#pending);
    return 'more';
  }
}

/** Returns the first line without its CRLF, or undefined if it is incomplete. */
function chunkLine(pending: Buffer): string | ReturnType<typeof broken> | undefined {
  const lineFeed = pending.indexOf(0x0a);
  if (lineFeed >= lineBytesMax || (lineFeed < 0 && pending.length >= lineBytesMax))
    return broken('header line too long');
  if (lineFeed < 0) return undefined;
  const line = pending.toString('latin1', 0, lineFeed);
  const carriageReturn = line.indexOf('\r');
  if (carriageReturn < 0) return broken('chunked line ends with bare LF');
  if (carriageReturn !== line.length - 1) return broken('invalid CR in chunked line');
  return line.slice(0, -1);
}

const hexDigitsMax = 16;

function chunkSize(line: string): number | string {
  const [size = ''] = trimAsciiEnd(line).split(';', 1);
  if (size === '') return 'empty hex number for chunk length';
  if (!/^[0-9a-fA-F]+$/.test(size)) return 'invalid byte in chunk length';
  return size.length > hexDigitsMax ? 'http chunk length too large' : Number.parseInt(size, 16);
}

const keepingNothing: Keeping = { kept: keptNames(), reserve: () => false };

/** Expects an empty line, or fields and then an empty line. Returns undefined if the trailer is incomplete. */
function readTrailer(pending: Buffer): BodyProgress | undefined {
  if (pending.length < 2) return undefined;
  const inSight = pending.subarray(0, lineBytesMax);
  if (inSight.indexOf('\r\n') === 0) return 'done';
  const end = inSight.indexOf('\r\n\r\n');
  if (end < 0)
    return inSight.length < lineBytesMax ? undefined : broken('http: suspiciously long trailer after chunked body');
  const read = new FieldReader(keepingNothing).take(inSight.subarray(0, end + 4), 0);
  return read !== 'more' && read.kind === 'malformed' ? broken(read.message) : 'done';
}
