/** The status line of an HTTP/1 response, read as it arrives. Source: Go's net/http, response.go. */
import { atoi, goQuote } from '../core/go-text.ts';

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
