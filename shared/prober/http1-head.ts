/**
 * The head of an HTTP/1 response, as lenient and as strict as Go's net/http client, which is what kubelet reads with: bare LF, folded
 * fields and a space before the colon pass; a missing colon, a control character or an odd length do not. Sources: Go's
 * net/http (response.go, transfer.go) and net/textproto. Texts here are one character per byte.
 */
import { atoi, goQuote, trimAscii } from '../core/go-text.ts';

/** Where the body ends. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'close' };

export type Head = {
  readonly status: number;
  /** The first one; empty: none. */
  readonly location: string;
  readonly framing: Framing;
};

export type HeadOutcome =
  | { readonly kind: 'head'; readonly head: Head }
  | { readonly kind: 'malformed'; readonly message: string };

/** `text`: status line and fields, each with its line end, without the empty line that ends the head. */
export function parseHead(text: string): HeadOutcome {
  const lineEnd = text.indexOf('\n');
  const statusLine = parseStatusLine(lineOf(text, 0, lineEnd));
  if (typeof statusLine === 'string') return malformed(statusLine);
  const fields = parseFields(lineEnd < 0 ? '' : text.slice(lineEnd + 1));
  if (typeof fields === 'string') return malformed(fields);
  const framing = framingOf(statusLine, fields);
  if (typeof framing === 'string') return malformed(framing);
  return { kind: 'head', head: { status: statusLine.status, location: fields.get('location')?.[0] ?? '', framing } };
}

const malformed = (message: string): HeadOutcome => ({ kind: 'malformed', message });

/** Without its line end, which is LF with at most one CR before it. */
function lineOf(text: string, from: number, lineFeed: number): string {
  const end = lineFeed < 0 ? text.length : lineFeed;
  return text.slice(from, end > from && text.charCodeAt(end - 1) === carriageReturn ? end - 1 : end);
}

const carriageReturn = 0x0d;
const space = 0x20;
const tab = 0x09;

export type StatusLine = { readonly status: number; readonly major: number; readonly minor: number };

/** The status line without its line end, or what is wrong with it. */
export function parseStatusLine(line: string): StatusLine | string {
  const gap = line.indexOf(' ');
  if (gap < 0) return `malformed HTTP response ${goQuote(line)}`;
  const rest = line.slice(gap).replace(/^ +/, '');
  const code = rest.slice(0, rest.indexOf(' ') < 0 ? undefined : rest.indexOf(' '));
  const status = code.length === 3 ? statusCode(code) : undefined;
  if (status === undefined) return `malformed HTTP status code ${goQuote(code)}`;
  const version = /^HTTP\/(\d)\.(\d)$/.exec(line.slice(0, gap));
  if (version === null) return `malformed HTTP version ${goQuote(line.slice(0, gap))}`;
  const [major, minor] = [Number(version[1]), Number(version[2])];
  // Go takes 0.0 for a version that was not given.
  return major === 0 && minor === 0 ? { status, major: 1, minor: 1 } : { status, major, minor };
}

/** Go's Atoi takes a sign, so `+20` is status 20. */
function statusCode(code: string): number | undefined {
  const parsed = atoi(code);
  return parsed.kind === 'integer' && parsed.value >= 0 ? parsed.value : undefined;
}

/** The values of the fields that decide something, by lower-case name, in order. */
type Fields = ReadonlyMap<string, readonly string[]>;

const decisive: ReadonlySet<string> = new Set([
  ...['content-length', 'transfer-encoding', 'trailer'],
  ...['connection', 'upgrade', 'location'],
]);
const decisiveLengthMin = 7;
const decisiveLengthMax = 17;

/** A control character, or a CR that is no line end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)/;
/** A space may stand in a name, because Go lets one stand before the colon; such a field is then none that it knows. */
const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z ]+$/;

/** The fields of a block of lines, or what is wrong with it. */
export function parseFields(block: string): Fields | string {
  const fields = new Map<string, string[]>();
  if (forbidden.test(block)) return 'malformed MIME header line';
  let folding: string[] | undefined;
  for (let from = 0; from < block.length; ) {
    const lineFeed = block.indexOf('\n', from);
    const line = lineOf(block, from, lineFeed);
    if (isBlank(line.charCodeAt(0))) {
      if (from === 0) return `malformed MIME header initial line: ${goQuote(line)}`;
      if (folding !== undefined) folding.push(unfolded(folding.pop() ?? '', trimAscii(line)));
    } else {
      const colon = line.indexOf(':');
      if (colon < 0) return `malformed MIME header: missing colon: ${goQuote(line)}`;
      if (!fieldName.test(line.slice(0, colon))) return `malformed MIME header line: ${goQuote(line)}`;
      folding = addField(fields, line, colon);
    }
    from = lineFeed < 0 ? block.length : lineFeed + 1;
  }
  return fields;
}

/** A value with its continuation. Blanks before a value do not count, so an empty first line leaves no space. */
const unfolded = (value: string, continuation: string): string =>
  value === '' ? continuation : `${value} ${continuation}`;

/** The values that a continuation line of this field belongs to; undefined: nobody asks for it. */
function addField(fields: Map<string, string[]>, line: string, colon: number): string[] | undefined {
  if (colon < decisiveLengthMin || colon > decisiveLengthMax) return undefined;
  const name = line.slice(0, colon).toLowerCase();
  if (!decisive.has(name)) return undefined;
  const values = fields.get(name) ?? [];
  fields.set(name, values);
  values.push(trimAscii(line.slice(colon + 1)));
  return values;
}

const isBlank = (code: number): boolean => code === space || code === tab;

/** Go's readTransfer: every length is read before the status says that there is no body, so a bad one fails even a 204. */
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

/** The largest that Go takes; above, a number is no length. */
const lengthMax = 2n ** 63n - 1n;
/** Leading zeros aside. */
const lengthDigitsMax = `${lengthMax}`.length;

function lengthOf(values: readonly string[] | undefined): number | string | undefined {
  const first = values?.[0];
  if (values === undefined || first === undefined) return undefined;
  const wanted = trimAscii(first);
  if (values.some((value) => trimAscii(value) !== wanted))
    return 'http: message cannot contain multiple Content-Length headers';
  if (wanted === '') return `invalid empty Content-Length ${goQuote(wanted)}`;
  const digits = wanted.replace(/^0+(?=\d)/, '');
  const isLength = /^\d+$/.test(digits) && digits.length <= lengthDigitsMax && BigInt(digits) <= lengthMax;
  return isLength ? Number(digits) : `bad Content-Length ${goQuote(wanted)}`;
}

function namesFraming(trailer: string): boolean {
  return trailer.split(',').some((name) => /^(transfer-encoding|trailer|content-length)$/i.test(trimAscii(name)));
}

function isProtocolSwitch(fields: Fields): boolean {
  return Boolean(fields.get('upgrade')?.[0]) && hasListedToken(fields.get('connection') ?? [], 'upgrade');
}

/** Is `token` (lower case) an element of one of these comma-separated lists? */
export function hasListedToken(values: readonly string[], token: string): boolean {
  return values.some((value) => value.split(',').some((element) => trimAscii(element).toLowerCase() === token));
}
