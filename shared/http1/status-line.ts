/** The status line of an HTTP/1 response, read as it arrives. Source: Go's net/http, response.go. */
import { atoi, goQuote } from '../core/go/text.ts';

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
