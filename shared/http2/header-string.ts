/**
 * One header string while its bytes arrive. The whole string is measured and validated, but only the needed part is
 * kept.
 */

/** The bytes that Go's `httpguts` allows: no upper case in names, no control characters but tab in values. */
const inName = allowed((code) => /[!#$%&'*+\-.^_`|~0-9a-z]/.test(String.fromCharCode(code)));
const inValue = allowed((code) => code === 0x09 || (code >= 0x20 && code !== 0x7f));

function allowed(isAllowed: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (isAllowed(code) ? 1 : 0));
}

/** Most strings are shorter than this. */
const firstBytes = 128;
/** Up to this size a string costs no more than an entry of the dynamic table and needs no reservation. */
const freeBytes = 4096;

export type HeaderString = {
  /** Begins a new string and keeps at most `keptMax` of its bytes. */
  readonly begin: (kind: 'name' | 'value', keptMax: number) => void;
  readonly take: (byte: number) => void;
  readonly takeAll: (bytes: Uint8Array, from: number, to: number) => void;
  readonly bytes: () => number;
  /** Whether all bytes are allowed and, for a name, whether there is at least one. */
  readonly isValid: () => boolean;
  /** Returns undefined if the string exceeded `keptMax`. */
  readonly text: () => string | undefined;
};

/**
 * `reserve` is called before the kept part of a string grows beyond `freeBytes`; it returns whether memory is
 * available.
 */
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
