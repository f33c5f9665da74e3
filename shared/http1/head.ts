/**
 * Reads the head of an HTTP/1 response as it arrives, as leniently and as strictly as Go's net/http client, which
 * kubelet uses. Source: Go's net/http (response.go, transfer.go). Strings hold one character per byte.
 */
import { atoi, goQuote, trimAscii } from '../core/go/text.ts';
import { FieldReader, type Fields, keptNames, type Reserve } from './fields.ts';

/** What determines the end of the body. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'close' };

export type Head = {
  readonly status: number;
  /** The first `Location` field; empty if there is none. */
  readonly location: string;
  readonly framing: Framing;
};

export type HeadProgress =
  | 'more'
  /** What follows the head begins at `end`. */
  | { readonly kind: 'head'; readonly head: Head; readonly end: number }
  | { readonly kind: 'malformed'; readonly message: string }
  /** There is no memory for a value that has to be kept. */
  | { readonly kind: 'tooMuch' };

export type HeadReader = {
  /** Takes `bytes` from `from` on. */
  readonly take: (bytes: Buffer, from: number) => HeadProgress;
};

/** The fields whose values are used. All others are discarded. */
const decisive = keptNames(
  ...['content-length', 'transfer-encoding', 'trailer'],
  ...['connection', 'upgrade', 'location'],
);

export function headReader(reserve: Reserve): HeadReader {
  const lines = statusLineReader();
  const fields = new FieldReader({ kept: decisive, reserve });
  let statusLine: StatusLine | undefined;

  const begin = (bytes: Buffer, from: number): Exclude<StatusLineProgress, { readonly kind: 'line' }> | number => {
    const read = lines.take(bytes, from);
    if (read === 'more' || read.kind === 'malformed') return read;
    statusLine = read.line;
    return read.end;
  };
  return {
    take: (bytes, from) => {
      const begun = statusLine ? from : begin(bytes, from);
      if (typeof begun !== 'number') return begun;
      const read = fields.take(bytes, begun);
      if (read === 'more' || read.kind !== 'end') return read;
      return statusLine ? headOf(statusLine, fields.fields(), read.end) : 'more';
    },
  };
}

function headOf(line: StatusLine, fields: Fields, end: number): HeadProgress {
  const framing = framingOf(line, fields);
  if (typeof framing === 'string') return { kind: 'malformed', message: framing };
  return { kind: 'head', head: { status: line.status, location: fields.get('location')?.[0] ?? '', framing }, end };
}

/**
 * Follows Go's readTransfer: lengths are parsed before the status is considered, so an invalid one fails even a 204.
 */
function framingOf(line: StatusLine, fields: Fields): Framing | string {
  const chunked = chunkedOf(line, fields.get('transfer-encoding'));
  if (typeof chunked === 'string') return chunked;
  const length = lengthOf(fields.get('content-length'));
  if (typeof length === 'string') return length;
  if (chunked && fields.get('trailer')?.some(namesFraming)) return 'bad trailer key';
  if (line.status === 101 && isProtocolSwitch(fields)) return { kind: 'close' };
  if (!hasBody(line.status) || (!chunked && length === 0)) return { kind: 'none' };
  if (chunked) return { kind: 'chunked' };
  return length === undefined ? { kind: 'close' } : { kind: 'length', bytes: length };
}

function hasBody(status: number): boolean {
  return !(status >= 100 && status <= 199) && status !== 204 && status !== 304;
}

function chunkedOf({ major, minor }: StatusLine, encodings: readonly string[] | undefined): boolean | string {
  if (encodings === undefined || major < 1 || (major === 1 && minor === 0)) return false;
  const [encoding = ''] = encodings;
  if (encodings.length > 1) return 'too many transfer encodings';
  return encoding.toLowerCase() === 'chunked' ? true : `unsupported transfer encoding: ${goQuote(encoding)}`;
}

/** The largest length that Go accepts. */
const lengthMax = 2n ** 63n - 1n;
/** Without leading zeros. */
const lengthDigitsMax = `${lengthMax}`.length;
/** Lengths that a number holds exactly, without a detour over BigInt. */
const ordinaryLength = /^\d{1,15}$/;

function lengthOf(values: readonly string[] | undefined): number | string | undefined {
  const first = values?.[0];
  if (values === undefined || first === undefined) return undefined;
  const wanted = trimAscii(first);
  if (values.length > 1 && values.some((value) => trimAscii(value) !== wanted))
    return 'http: message cannot contain multiple Content-Length headers';
  if (ordinaryLength.test(wanted)) return Number(wanted);
  if (wanted === '') return `invalid empty Content-Length ${goQuote(wanted)}`;
  const digits = wanted.replace(/^0+/, '') || '0';
  const isLength = /^\d+$/.test(digits) && digits.length <= lengthDigitsMax && BigInt(digits) <= lengthMax;
  return isLength ? Number(digits) : `bad Content-Length ${goQuote(wanted)}`;
}

function namesFraming(trailer: string): boolean {
  return trailer.split(',').some((name) => /^(transfer-encoding|trailer|content-length)$/i.test(trimAscii(name)));
}

function isProtocolSwitch(fields: Fields): boolean {
  return Boolean(fields.get('upgrade')?.[0]) && hasListedToken(fields.get('connection') ?? [], 'upgrade');
}

/** Returns whether `token`, in lower case, is an element of one of these comma-separated lists. */
export function hasListedToken(values: readonly string[], token: string): boolean {
  return values.some((value) => value.split(',').some((element) => trimAscii(element).toLowerCase() === token));
}

// The status line of an HTTP/1 response, read as it arrives. Source: Go's net/http, response.go.

export type StatusLine = { readonly status: number; readonly major: number; readonly minor: number };

export type StatusLineProgress =
  | 'more'
  /** `end`: position at which the fields begin. */
  | { readonly kind: 'line'; readonly line: StatusLine; readonly end: number }
  | { readonly kind: 'malformed'; readonly message: string };

export type StatusLineReader = {
  /** Takes `bytes` from `from` on. However long the line is, only the beginnings of its parts are kept. */
  readonly take: (bytes: Buffer, from: number) => StatusLineProgress;
};

const [lineFeed, space] = [0x0a, 0x20];
/** More than any version or code has. */
const partBytesMax = 64;
const codeLength = 3;

export function statusLineReader(): StatusLineReader {
  /**
   * The version, then the code: the text before the first blank, and the text between the following blanks and the next
   * one.
   */
  let version = '';
  let code: string | undefined;
  let isCodeOver = false;

  const end = (at: number): StatusLineProgress => {
    if (code === undefined) return malformed(`malformed HTTP response ${goQuote(withoutCarriageReturn(version))}`);
    const parsed = parse(version, isCodeOver ? code : withoutCarriageReturn(code));
    return typeof parsed === 'string' ? malformed(parsed) : { kind: 'line', line: parsed, end: at };
  };
  const blank = () => {
    if (code === undefined) code = '';
    else if (code !== '') isCodeOver = true;
  };
  const take = (bytes: Buffer, from: number): StatusLineProgress => {
    const ordinary = version === '' ? ordinaryLine(bytes, from) : undefined;
    if (ordinary !== undefined) return ordinary;
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === lineFeed) return end(at + 1);
      if (isCodeOver) continue;
      if (byte === space) blank();
      else if (code === undefined) version = extended(version, byte);
      else code = extended(code, byte);
    }
    return 'more';
  };
  return { take };
}

/** Of `HTTP/1.0` and `HTTP/1.1`. */
const ordinaryVersion = Buffer.from('HTTP/1.');
const [digit0, digit9, carriageReturn] = [0x30, 0x39, 0x0d];

/** The line as almost every server sends it, if all of it is here: version and code without building their texts. */
function ordinaryLine(bytes: Buffer, from: number): StatusLineProgress | undefined {
  for (let at = 0; at < ordinaryVersion.length; at += 1) if (bytes[from + at] !== ordinaryVersion[at]) return undefined;
  const minor = digitAt(bytes, from + 7);
  const [hundreds, tens, ones] = [digitAt(bytes, from + 9), digitAt(bytes, from + 10), digitAt(bytes, from + 11)];
  const after = bytes[from + 12];
  if (!(minor <= 1) || bytes[from + 8] !== space || (after !== space && after !== carriageReturn)) return undefined;
  const status = hundreds * 100 + tens * 10 + ones;
  const end = bytes.indexOf(lineFeed, from + 12) + 1;
  const isWhole = end > 0 && (after === space || end === from + 14);
  return isWhole && !Number.isNaN(status) ? { kind: 'line', line: { status, major: 1, minor }, end } : undefined;
}

/** NaN: no digit. */
function digitAt(bytes: Buffer, at: number): number {
  const byte = bytes[at] ?? 0;
  return byte >= digit0 && byte <= digit9 ? byte - digit0 : Number.NaN;
}

const extended = (part: string, byte: number): string =>
  part.length < partBytesMax ? part + String.fromCharCode(byte) : part;

const withoutCarriageReturn = (text: string): string => (text.endsWith('\r') ? text.slice(0, -1) : text);

const malformed = (message: string): StatusLineProgress => ({ kind: 'malformed', message });

function parse(version: string, code: string): StatusLine | string {
  const status = code.length === codeLength ? statusCode(code) : undefined;
  if (status === undefined) return `malformed HTTP status code ${goQuote(code)}`;
  const numbers = /^HTTP\/(\d)\.(\d)$/.exec(version);
  if (numbers === null) return `malformed HTTP version ${goQuote(version)}`;
  const [major, minor] = [Number(numbers[1]), Number(numbers[2])];
  // Go treats 0.0 as a version that was not given.
  return major === 0 && minor === 0 ? { status, major: 1, minor: 1 } : { status, major, minor };
}

/** Go's Atoi accepts a sign, so `+20` is status 20. */
function statusCode(code: string): number | undefined {
  const parsed = atoi(code);
  return parsed.kind === 'integer' && parsed.value >= 0 ? parsed.value : undefined;
}
