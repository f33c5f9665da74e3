/**
 * Reads the head of an HTTP/1 response as it arrives, as leniently and as strictly as Go's net/http client, which
 * kubelet uses. Source: Go's net/http (response.go, transfer.go). Strings hold one character per byte.
 */
import { goQuote, trimAscii } from '../core/go/text.ts';
import { FieldReader, type Fields, keptNames, type Reserve } from './fields.ts';
import { type StatusLine, type StatusLineProgress, statusLineReader } from './status-line.ts';

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
