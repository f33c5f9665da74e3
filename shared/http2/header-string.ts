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

export class HeaderString {
  readonly #reserve: (bytes: number) => boolean;
  #kept = Buffer.allocUnsafe(firstBytes);
  #isName = false;
  #table = inName;
  #keptMax = 0;
  #length = 0;
  #valid = true;

  /**
   * `reserve` is called before the kept part of a string grows beyond `freeBytes`; it returns whether memory is
   * available.
   */
  constructor(reserve: (bytes: number) => boolean) {
    this.#reserve = reserve;
  }

  /** Begins a new string and keeps at most `keptMax` of its bytes. */
  begin(kind: 'name' | 'value', keptMax: number): void {
    this.#isName = kind === 'name';
    this.#table = this.#isName ? inName : inValue;
    this.#keptMax = keptMax;
    this.#length = 0;
    this.#valid = true;
  }

  take(byte: number): void {
    if (this.#length < this.#keptMax) {
      if (this.#length >= this.#kept.length) this.#grow(this.#length + 1);
      if (this.#length < this.#kept.length) this.#kept[this.#length] = byte;
    }
    this.#length += 1;
    if (this.#table[byte] === 0) this.#valid = false;
  }

  takeAll(bytes: Uint8Array): void {
    const length = this.#length;
    const end = Math.min(this.#keptMax, length + bytes.length);
    if (end > this.#kept.length) this.#grow(end);
    const keptEnd = Math.min(this.#kept.length, end);
    if (length < keptEnd) this.#kept.set(bytes.subarray(0, keptEnd - length), length);
    this.#length += bytes.length;
    for (let at = 0; this.#valid && at < bytes.length; at += 1)
      if (this.#table[bytes[at] ?? 0] === 0) this.#valid = false;
  }

  bytes(): number {
    return this.#length;
  }

  /** Whether all bytes are allowed and, for a name, whether there is at least one. */
  isValid(): boolean {
    return this.#valid && (!this.#isName || this.#length > 0);
  }

  /** Returns undefined if the string exceeded `keptMax`. */
  text(): string | undefined {
    const isKept = this.#length <= this.#keptMax && this.#length <= this.#kept.length;
    return isKept ? this.#kept.toString('latin1', 0, this.#length) : undefined;
  }

  #grow(wanted: number): void {
    const kept = this.#kept;
    const size = Math.min(this.#keptMax, Math.max(wanted, 2 * kept.length));
    if (size > freeBytes && !this.#reserve(size - kept.length)) {
      this.#keptMax = kept.length;
      return;
    }
    const grown = Buffer.allocUnsafe(size);
    kept.copy(grown);
    this.#kept = grown;
  }
}
