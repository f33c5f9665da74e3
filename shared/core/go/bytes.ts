/**
 * Texts that hold bytes, one character a byte, and their meaning as UTF-8. Fast, because a peer may send a megabyte.
 */

/** Every JavaScript engine accepts at least this many arguments in one call. */
const argumentsMax = 8192;

/** `codes`: bytes. */
export function fromCodes(codes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < codes.length; at += argumentsMax)
    text += Reflect.apply(String.fromCharCode, undefined, codes.subarray(at, at + argumentsMax));
  return text;
}

/** Characters beyond Latin-1 are truncated to their low byte. */
export function codesOf(bytes: string): Uint8Array {
  const codes = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) codes[at] = bytes.charCodeAt(at);
  return codes;
}

const beyondAscii = /[\u0080-\uffff]/;

export const toBytes = (text: string): string =>
  beyondAscii.test(text) ? fromCodes(new TextEncoder().encode(text)) : text;

export const toText = (bytes: string): string =>
  beyondAscii.test(bytes) ? new TextDecoder().decode(codesOf(bytes)) : bytes;

/** A table by byte value: whether `passes` holds for that byte. */
export const bytesThat = (passes: (character: string) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, code) => Number(passes(String.fromCharCode(code))));

/** Whether every byte is in `table`. */
export function areAll(bytes: string, table: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += 1) if (table[bytes.charCodeAt(at)] !== 1) return false;
  return true;
}

export const percent = 0x25;
/** A percent sign and two digits. */
export const escapeBytes = 3;

const isHexDigit = bytesThat((c) => /[0-9A-Fa-f]/.test(c));
const nine = 0x39;
/** Upper-case and lower-case letters end in the same bits. */
const digitOf = (code: number): number => (code & 0xf) + (code > nine ? 9 : 0);

/** The byte that the escape at this position encodes; undefined: there is no escape. */
export function escapedCode(bytes: string, at: number): number | undefined {
  const [high, low] = [bytes.charCodeAt(at + 1), bytes.charCodeAt(at + 2)];
  const isEscape = bytes.charCodeAt(at) === percent && isHexDigit[high] === 1 && isHexDigit[low] === 1;
  return isEscape ? (digitOf(high) << 4) | digitOf(low) : undefined;
}

/** A percent sign that begins no escape stands for itself. */
export function withoutEscapes(bytes: string): string {
  if (!bytes.includes('%')) return bytes;
  const codes = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const byte = escapedCode(bytes, at);
    codes[length++] = byte ?? bytes.charCodeAt(at);
    at += byte === undefined ? 1 : escapeBytes;
  }
  return fromCodes(codes.subarray(0, length));
}
