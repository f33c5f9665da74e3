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
      if (scanned === 'more' || scanned.kind === 'broken') return scanned;
      const before = bytes.length - scanned.restBytes;
      return begin(scanned.head, bytes.subarray(before), before);
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
  const earlier = unfinishedHead();
  let bytesTaken = 0;

  const notYet = (piece: string): Scanned => {
    const trouble = earlier.add(piece);
    if (trouble !== undefined) return broken(trouble);
    return bytesTaken >= headBytesMax ? tooLong : 'more';
  };
  /** One head, whatever its status. */
  const scan = (piece: string): (HeadOutcome & { readonly rest: string }) | undefined => {
    const tail = earlier.tail();
    const end = endOfHead(tail + piece);
    if (end === undefined) return undefined;
    const text = earlier.finish(piece);
    const searchedFrom = text.length - piece.length - tail.length;
    return { ...parseHead(text.slice(0, searchedFrom + end.from)), rest: text.slice(searchedFrom + end.to) };
  };
  const scanAll = (piece: string): Scanned => {
    for (let rest = piece; ; ) {
      const scanned = scan(rest);
      if (scanned === undefined) return notYet(rest);
      if (bytesTaken - scanned.rest.length > headBytesMax) return tooLong;
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

type UnfinishedHead = {
  /** What is wrong with its first line, said once, as soon as all of that line is here. */
  readonly add: (piece: string) => string | undefined;
  /** Its last characters, in which the empty line may have begun. */
  readonly tail: () => string;
  /** All of it, `piece` being the last, and then it is empty again. */
  readonly finish: (piece: string) => string;
};

const tailLength = 2;

/** A head whose end has not come. To join or slice its text at each piece would copy all of it each time. */
function unfinishedHead(): UnfinishedHead {
  let pieces: string[] = [];
  let tail = '';
  let firstLineIsHere = false;
  return {
    add: (piece) => {
      pieces.push(piece);
      tail = (tail + piece.slice(-tailLength)).slice(-tailLength);
      if (firstLineIsHere || !piece.includes('\n')) return undefined;
      firstLineIsHere = true;
      return statusLineTrouble(pieces.join(''));
    },
    tail: () => tail,
    finish: (piece) => {
      const text = pieces.length === 0 ? piece : pieces.join('') + piece;
      pieces = [];
      tail = '';
      firstLineIsHere = false;
      return text;
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

/** A peer that speaks another protocol and then waits is recognised by its first line. */
function statusLineTrouble(text: string): string | undefined {
  const line = text.slice(0, text.indexOf('\n'));
  const parsed = parseStatusLine(line.endsWith('\r') ? line.slice(0, -1) : line);
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
