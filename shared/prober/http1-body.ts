/** The body of an HTTP/1 response, up to a limit. What breaks here is a prober error, so Go's words are kept. */
import { trimAsciiEnd } from '../core/go-text.ts';
import { gathered } from '../lib/gathered.ts';
import { fieldReader, type Keeping } from './http1-fields.ts';
import type { Framing } from './http1-head.ts';

export type BodyReader = {
  /**
   * Takes what arrived and says whether the body is complete (or as much of it as is wanted). `before`: how many bytes arrived in the same
   * piece ahead of these, as the rest of the head.
   */
  readonly take: (bytes: Buffer, before?: number) => BodyProgress;
  /** The peer has ended its side. */
  readonly end: () => Exclude<BodyProgress, 'more'>;
  readonly body: () => Buffer;
};

export type BodyProgress = 'more' | 'done' | { readonly kind: 'broken'; readonly message: string };

const broken = (message: string): Exclude<BodyProgress, 'more' | 'done'> => ({ kind: 'broken', message });
const unexpectedEnd = broken('unexpected EOF');

/** Reads at most `bytesMax` of the body; what follows is never looked at. */
export function bodyReader(framing: Exclude<Framing, { readonly kind: 'none' }>, bytesMax: number): BodyReader {
  switch (framing.kind) {
    case 'length':
      return plainReader(Math.min(framing.bytes, bytesMax), unexpectedEnd);
    case 'close':
      return plainReader(bytesMax, 'done');
    case 'chunked':
      return chunkedReader(bytesMax);
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

/** Go reads through a buffer of this size, which it fills when it is empty. A chunk line or trailer has to fit into it. */
const lineBytesMax = 4096;
/** Overhead beyond 16 bytes a chunk and twice its content: a sender of nothing but chunk heads is cut off here. */
const excessBytesMax = 16 * 1024;

type ChunkState = 'size' | 'content' | 'contentEnd' | 'trailer';

/**
 * Go's chunkedReader: chunk lines end in CRLF and nothing else; extensions are dropped. When the limit falls on the end of a chunk, the
 * next chunk line is still judged if Go's buffer holds all of it, but it is not waited for.
 */
function chunkedReader(bytesMax: number): BodyReader {
  const content = gathered(bytesMax);
  let state: ChunkState = 'size';
  let pending: Buffer = nothing;
  let remaining = 0;
  let excess = 0;
  /** Of the newest piece, whatever its bytes were. */
  let pieceBytes = 0;

  /** What Go can look at without reading: all that is here while content is wanted, and then the rest of its buffer. */
  const inSight = (): Buffer => {
    if (!content.isFull()) return pending;
    const read = pieceBytes - pending.length;
    return pending.subarray(0, (lineBytesMax - (read % lineBytesMax)) % lineBytesMax);
  };
  const beginChunk = (line: string): BodyProgress => {
    const size = chunkSize(line);
    if (typeof size === 'string') return broken(size);
    excess = Math.max(0, excess + line.length + 2 - 16 - 2 * size);
    if (excess > excessBytesMax) return broken('chunked encoding contains too much non-data');
    remaining = size;
    state = size === 0 ? 'trailer' : 'content';
    return 'more';
  };
  /** One step; undefined: it needs more bytes. */
  const step = (): BodyProgress | undefined => {
    switch (state) {
      case 'size': {
        const line = chunkLine(inSight());
        if (typeof line !== 'string') return line;
        pending = pending.subarray(line.length + 2);
        return beginChunk(line);
      }
      case 'content': {
        if (content.isFull()) return 'done';
        if (pending.length === 0) return undefined;
        const taken = content.add(pending.subarray(0, remaining));
        pending = pending.subarray(taken);
        remaining -= taken;
        if (remaining === 0) state = 'contentEnd';
        return 'more';
      }
      case 'contentEnd':
        if (inSight().length < 2) return undefined;
        if (pending.toString('latin1', 0, 2) !== '\r\n') return broken('malformed chunked encoding');
        pending = pending.subarray(2);
        state = 'size';
        return 'more';
      case 'trailer':
        return readTrailer(pending);
    }
  };
  /** The rest is less than a chunk line: without a copy it would hold all that arrived with it. */
  const awaitMore = (): BodyProgress => {
    content.keep();
    pending = pending.length === 0 ? nothing : Buffer.from(pending);
    return 'more';
  };
  const take = (bytes: Buffer, before = 0): BodyProgress => {
    pieceBytes = before + bytes.length;
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    for (;;) {
      const progress = step();
      if (progress === undefined) return content.isFull() && state !== 'trailer' ? 'done' : awaitMore();
      if (progress !== 'more') return progress;
    }
  };
  return { take, end: () => unexpectedEnd, body: content.bytes };
}

/** The line without its CRLF; undefined: not all of it is here. */
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

const keepingNothing: Keeping = { kept: new Set(), reserve: () => false };

/** An empty line, or fields and then an empty line; undefined: not all of it is here. */
function readTrailer(pending: Buffer): BodyProgress | undefined {
  if (pending.length < 2) return undefined;
  const inSight = pending.subarray(0, lineBytesMax);
  if (inSight.indexOf('\r\n') === 0) return 'done';
  const end = inSight.indexOf('\r\n\r\n');
  if (end < 0)
    return inSight.length < lineBytesMax ? undefined : broken('http: suspiciously long trailer after chunked body');
  const read = fieldReader(keepingNothing).take(inSight.subarray(0, end + 4), 0);
  return read !== 'more' && read.kind === 'malformed' ? broken(read.message) : 'done';
}
