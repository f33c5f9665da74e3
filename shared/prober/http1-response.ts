/** An HTTP/1 response as it arrives: heads (informational ones are skipped), then as much of the body as is wanted. */
import { type BodyReader, bodyReader } from './http1-body.ts';
import { type Head, type HeadOutcome, parseHead, parseStatusLine } from './http1-head.ts';

export type HttpResponse = {
  readonly status: number;
  /** Empty: none. */
  readonly location: string;
  readonly body: Buffer;
  /** The body broke off or was malformed; `body` is what was read of it. */
  readonly bodyError?: string;
};

export type Progress =
  | 'more'
  | { readonly kind: 'response'; readonly response: HttpResponse }
  /** The head never came to its end. */
  | { readonly kind: 'broken'; readonly message: string };

export type ResponseReader = {
  readonly take: (bytes: Buffer) => Progress;
  /** No more bytes will come. `cause`: why; absent: the peer ended in order. */
  readonly end: (cause?: string) => Exclude<Progress, 'more'>;
};

/** Go's MaxResponseHeaderBytes, informational heads included. */
const headBytesMax = 10 * 1024 * 1024;

/** `bodyBytesMax` says, once the head is known, how much of the body is wanted. */
export function responseReader(bodyBytesMax: (head: Head) => number): ResponseReader {
  const heads = headScanner();
  let head: Head | undefined;
  let body: BodyReader | undefined;

  const finished = (bodyError?: string): Exclude<Progress, 'more'> => {
    const { status, location } = head ?? { status: 0, location: '' };
    const error = bodyError === undefined ? undefined : { bodyError };
    return { kind: 'response', response: { status, location, body: body?.body() ?? nothing, ...error } };
  };
  const takeBody = (reader: BodyReader, bytes: Buffer): Progress => {
    const progress = reader.take(bytes);
    if (progress === 'more') return 'more';
    return progress === 'done' ? finished() : finished(progress.message);
  };
  const begin = (found: Head, rest: Buffer): Progress => {
    head = found;
    // Asked for a head without a body too: the answer also decides what becomes of the response.
    const wanted = bodyBytesMax(found);
    if (found.framing.kind === 'none' || wanted === 0) return finished();
    body = bodyReader(found.framing, wanted);
    return rest.length === 0 ? 'more' : takeBody(body, rest);
  };
  return {
    take: (bytes) => {
      if (body !== undefined) return takeBody(body, bytes);
      const scanned = heads.take(bytes);
      if (scanned === 'more' || scanned.kind === 'broken') return scanned;
      return begin(scanned.head, bytes.subarray(bytes.length - scanned.restBytes));
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
  | { readonly kind: 'head'; readonly head: Head; readonly restBytes: number };

type HeadScanner = {
  /** `restBytes`: how many of the bytes just taken follow the head. */
  readonly take: (bytes: Buffer) => Scanned;
  /** What to say of a head that ends too early. */
  readonly end: (cause: string | undefined) => string;
};

/**
 * Finds where a head ends: at the first empty line. Only what is new is searched and nothing is joined before that, so that a head of
 * megabytes in small pieces costs no more than its length.
 */
function headScanner(): HeadScanner {
  let earlier = '';
  let bytesTaken = 0;
  let statusLineIsFine = false;

  const notYet = (piece: string): Scanned => {
    earlier += piece;
    if (!statusLineIsFine && piece.includes('\n')) {
      const trouble = statusLineTrouble(earlier);
      if (trouble !== undefined) return broken(trouble);
      statusLineIsFine = true;
    }
    return bytesTaken >= headBytesMax ? tooLong : 'more';
  };
  /** One head, whatever its status. */
  const scan = (piece: string): (HeadOutcome & { readonly rest: string }) | undefined => {
    const overlap = earlier.slice(-2);
    const end = endOfHead(overlap + piece);
    if (end === undefined) return undefined;
    const text = earlier + piece;
    const windowAt = earlier.length - overlap.length;
    earlier = '';
    statusLineIsFine = false;
    return { ...parseHead(text.slice(0, windowAt + end.from)), rest: text.slice(windowAt + end.to) };
  };
  const scanAll = (piece: string): Scanned => {
    for (let rest = piece; ; ) {
      const scanned = scan(rest);
      if (scanned === undefined) return notYet(rest);
      if (scanned.kind === 'malformed') return broken(scanned.message);
      rest = scanned.rest;
      if (!isInformational(scanned.head.status)) return { kind: 'head', head: scanned.head, restBytes: rest.length };
    }
  };
  return {
    take: (bytes) => {
      bytesTaken += bytes.length;
      return scanAll(bytes.toString('latin1'));
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

/** A peer that speaks another protocol and then waits is told apart at its first line. */
function statusLineTrouble(text: string): string | undefined {
  const parsed = parseStatusLine(text.slice(0, text.indexOf('\n')).replace(/\r$/, ''));
  return typeof parsed === 'string' ? parsed : undefined;
}

const lineFeedCode = 0x0a;
const carriageReturnCode = 0x0d;

/** `from`: where the empty line begins; `to`: where the body does. */
function endOfHead(text: string): { readonly from: number; readonly to: number } | undefined {
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    const next = text.charCodeAt(at + 1);
    if (next === lineFeedCode) return { from: at + 1, to: at + 2 };
    if (next === carriageReturnCode && text.charCodeAt(at + 2) === lineFeedCode) return { from: at + 1, to: at + 3 };
  }
  return undefined;
}
