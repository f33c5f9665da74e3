/** An HTTP/1 response as it arrives: heads (informational ones are skipped), then as much of the body as is wanted. */
import { type BodyReader, bodyReader } from './body.ts';
import type { Reserve } from './fields.ts';
import { type Head, headReader } from './head.ts';

export type HttpResponse = {
  readonly status: number;
  /** Empty: none. */
  readonly location: string;
  readonly body: Buffer;
  /** Why the body broke off or was malformed, if it did; `body` is what was read of it. */
  readonly bodyError: string | undefined;
};

export type Progress =
  | 'more'
  | { readonly kind: 'response'; readonly response: HttpResponse }
  /** The head never came to its end. */
  | { readonly kind: 'broken'; readonly message: string }
  /** There is no memory for what would have to be kept of the head. */
  | { readonly kind: 'tooMuch' };

type Ended = Exclude<Progress, 'more' | { readonly kind: 'tooMuch' }>;

export type ResponseReader = {
  readonly take: (bytes: Buffer) => Progress;
  /** No more bytes will come. `cause`: why; absent: the peer ended in order. */
  readonly end: (cause?: string) => Ended;
};

/** Go's MaxResponseHeaderBytes, informational heads included. */
const headBytesMax = 10 * 1024 * 1024;

export type ResponseOptions = {
  /** How much of the body is wanted, once the head is known. */
  readonly bodyBytesMax: (head: Head) => number;
  readonly reserve: Reserve;
};

export function responseReader({ bodyBytesMax, reserve }: ResponseOptions): ResponseReader {
  const heads = headScanner(reserve);
  let head: Head | undefined;
  let body: BodyReader | undefined;

  const finished = (bodyError?: string): Ended => {
    const { status, location } = head ?? { status: 0, location: '' };
    return { kind: 'response', response: { status, location, body: body?.body() ?? nothing, bodyError } };
  };
  const takeBody = (reader: BodyReader, bytes: Buffer, before = 0): Progress => {
    const progress = reader.take(bytes, before);
    if (progress === 'more') return 'more';
    return progress === 'done' ? finished() : finished(progress.message);
  };
  const begin = (found: Head, rest: Buffer, before: number): Progress => {
    head = found;
    // Asked for a head without a body too: the answer also decides what becomes of the response.
    const wanted = bodyBytesMax(found);
    if (found.framing.kind === 'none' || wanted === 0) return finished();
    body = bodyReader(found.framing, wanted);
    return rest.length === 0 ? 'more' : takeBody(body, rest, before);
  };
  return {
    take: (bytes) => {
      if (body !== undefined) return takeBody(body, bytes);
      const scanned = heads.take(bytes);
      if (scanned === 'more' || scanned.kind !== 'head') return scanned;
      return begin(scanned.head, bytes.subarray(scanned.end), scanned.end);
    },
    end: (cause) => {
      if (body === undefined) return { kind: 'broken', message: heads.end(cause) };
      const progress = cause === undefined ? body.end() : { message: cause };
      return progress === 'done' ? finished() : finished(progress.message);
    },
  };
}

const nothing = Buffer.alloc(0);

type Scanned =
  | Exclude<Progress, { kind: 'response' }>
  | { readonly kind: 'head'; readonly head: Head; readonly end: number };

type HeadScanner = {
  /** `end`: where in the bytes just taken the head ends. */
  readonly take: (bytes: Buffer) => Scanned;
  /** What to say of a head that ends too early. */
  readonly end: (cause: string | undefined) => string;
};

/** Finds the head of the response behind informational ones. */
function headScanner(reserve: Reserve): HeadScanner {
  let reader = headReader(reserve);
  let bytesTaken = 0;

  /** One head, whatever its status; `before`: what was taken before these bytes. */
  const readHead = (bytes: Buffer, from: number, before: number): Scanned => {
    const read = reader.take(bytes, from);
    if (read === 'more') return bytesTaken >= headBytesMax ? tooLong : 'more';
    if (read.kind === 'malformed') return broken(read.message);
    return read.kind === 'head' && before + read.end > headBytesMax ? tooLong : read;
  };
  return {
    take: (bytes) => {
      const before = bytesTaken;
      bytesTaken += bytes.length;
      for (let at = 0; ; reader = headReader(reserve)) {
        const read = readHead(bytes, at, before);
        if (read === 'more' || read.kind !== 'head' || !isInformational(read.head.status)) return read;
        at = read.end;
      }
    },
    end: (cause) => {
      if (bytesTaken === 0) return cause ?? 'EOF';
      return `${transportBroken}${cause ?? 'unexpected EOF'}`;
    },
  };
}

const transportBroken = 'net/http: HTTP/1.x transport connection broken: ';

const broken = (message: string) => ({ kind: 'broken', message: transportBroken + message }) as const;

const tooLong = {
  kind: 'broken',
  message: `net/http: server response headers exceeded ${headBytesMax} bytes; aborted`,
} as const;

/** 101 is an answer: it ends the exchange. */
const isInformational = (status: number): boolean => status >= 100 && status <= 199 && status !== 101;
