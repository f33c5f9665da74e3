/**
 * Domain names in DNS messages, with compression pointers. Parsing stops as soon as a name is too long, so each name
 * costs at most 254 bytes and ten pointers, even if the pointers form a loop. It rejects what
 * golang.org/x/net/dns/dnsmessage rejects.
 */

/** Including the dots and the trailing one. */
const nameBytesMax = 254;
const pointersMax = 10;
const dot = 0x2e;

/**
 * Reads the name at `start` and passes each label to `take`. Returns the offset of the next field, or undefined if the
 * name is invalid.
 */
export function nameEnd(message: Buffer, start: number, take?: (from: number, to: number) => void): number | undefined {
  let at = start;
  let end: number | undefined;
  let pointers = 0;
  let bytes = 0;
  while (at < message.length) {
    const first = message[at] ?? 0;
    at += 1;
    switch (first >> 6) {
      case 0b00: {
        if (first === 0) return end ?? at;
        const next = at + first;
        bytes += first + 1;
        if (next > message.length || bytes > nameBytesMax || hasDot(message, at, next)) return undefined;
        take?.(at, next);
        at = next;
        break;
      }
      case 0b11: {
        const low = message[at];
        pointers += 1;
        if (low === undefined || pointers > pointersMax) return undefined;
        end ??= at + 1;
        at = ((first & 0b111111) << 8) | low;
        break;
      }
      default:
        // The prefixes 01 and 10 are reserved.
        return undefined;
    }
  }
  return undefined;
}

/** A dot inside a label would make two different names look alike (go.dev/issue/56246). */
function hasDot(message: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (message[at] === dot) return true;
  return false;
}

/** Returns the offset of the field after the name, without following the name's pointer. */
export function skippedNameEnd(message: Buffer, start: number): number | undefined {
  let at = start;
  while (at < message.length) {
    const first = message[at] ?? 0;
    at += 1;
    if (first >> 6 === 0b11) return at + 1;
    if (first >> 6 !== 0b00) return undefined;
    if (first === 0) return at;
    at += first;
  }
  return undefined;
}

export type ReadName = {
  /** In lower case, without the trailing dot. */
  readonly name: string;
  readonly end: number;
};

/** Returns the name at `start`, or undefined if it is invalid. */
export function readName(message: Buffer, start: number): ReadName | undefined {
  const labels: string[] = [];
  const end = nameEnd(message, start, (from, to) => labels.push(message.toString('latin1', from, to)));
  return end === undefined ? undefined : { name: lowerAscii(labels.join('.')), end };
}

/** Lowers ASCII letters only: `toLowerCase` would map some different bytes above 127 to the same one. */
const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
