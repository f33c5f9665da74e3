/** One header string while its bytes arrive: it is measured and judged as a whole, and kept only as far as somebody needs it. */

/** Go's `httpguts` decides what a name and a value may contain: no upper case in names, no control characters but tab in values. */
const inName = allowed((code) => /[!#$%&'*+\-.^_`|~0-9a-z]/.test(String.fromCharCode(code)));
const inValue = allowed((code) => code === 0x09 || (code >= 0x20 && code !== 0x7f));

function allowed(isAllowed: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (isAllowed(code) ? 1 : 0));
}

/** Most strings are shorter. */
const firstBytes = 128;
/** Up to here a string costs no more than an entry of the dynamic table. */
const freeBytes = 4096;

export type HeaderString = {
  /** Begins a new string. `keptMax`: how many of its bytes to keep at most. */
  readonly begin: (kind: 'name' | 'value', keptMax: number) => void;
  readonly take: (byte: number) => void;
  readonly takeAll: (bytes: Uint8Array, from: number, to: number) => void;
  readonly bytes: () => number;
  /** Whether all of its bytes are allowed. A name has at least one. */
  readonly isValid: () => boolean;
  /** Undefined: it was longer than `keptMax`. */
  readonly text: () => string | undefined;
};

/** `reserve` is asked before the kept part of a string grows beyond what is free, and answers whether there is memory for it. */
export function headerString(reserve: (bytes: number) => boolean): HeaderString {
  let kept = Buffer.allocUnsafe(firstBytes);
  let isName = false;
  let table = inName;
  let keptMax = 0;
  let length = 0;
  let valid = true;

  const grow = (wanted: number) => {
    const size = Math.min(keptMax, Math.max(wanted, 2 * kept.length));
    if (size > freeBytes && !reserve(size - kept.length)) {
      keptMax = kept.length;
      return;
    }
    const grown = Buffer.allocUnsafe(size);
    kept.copy(grown);
    kept = grown;
  };
  return {
    begin: (kind, max) => {
      isName = kind === 'name';
      table = isName ? inName : inValue;
      keptMax = max;
      length = 0;
      valid = true;
    },
    take: (byte) => {
      if (length < keptMax) {
        if (length >= kept.length) grow(length + 1);
        if (length < kept.length) kept[length] = byte;
      }
      length += 1;
      if (table[byte] === 0) valid = false;
    },
    takeAll: (bytes, from, to) => {
      const end = Math.min(keptMax, length + to - from);
      if (end > kept.length) grow(end);
      if (length < keptMax && length < kept.length)
        kept.set(bytes.subarray(from, from + Math.min(kept.length, end) - length), length);
      length += to - from;
      for (let at = from; valid && at < to; at += 1) if (table[bytes[at] ?? 0] === 0) valid = false;
    },
    bytes: () => length,
    isValid: () => valid && (!isName || length > 0),
    text: () => (length <= keptMax && length <= kept.length ? kept.toString('latin1', 0, length) : undefined),
  };
}
