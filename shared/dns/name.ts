/**
 * Names in DNS messages, which may go on elsewhere by pointers. A name is left as soon as it is too long, so that each costs at most 254
 * bytes and ten pointers, wherever they lead. What is refused is what golang.org/x/net/dns/dnsmessage refuses.
 */

/** With the dots and the one at the end. */
const nameBytesMax = 254;
const pointersMax = 10;
const dot = 0x2e;

/** Reads the name at `start` and returns where the next field begins; undefined: there is no valid name. `take` gets each label. */
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
        // 01 and 10 are reserved.
        return undefined;
    }
  }
  return undefined;
}

/** A dot inside a label would make two names look alike (go.dev/issue/56246). */
function hasDot(message: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (message[at] === dot) return true;
  return false;
}

/** Where the field behind the name begins, without a look at what its pointer points to. */
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
  /** In lower case, without the dot at the end. */
  readonly name: string;
  readonly end: number;
};

/** The name at `start`; undefined: there is no valid one. */
export function readName(message: Buffer, start: number): ReadName | undefined {
  const labels: string[] = [];
  const end = nameEnd(message, start, (from, to) => labels.push(message.toString('latin1', from, to)));
  return end === undefined ? undefined : { name: lowerAscii(labels.join('.')), end };
}

/** ASCII letters only: `toLowerCase` would make two different bytes above 127 alike. */
const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
