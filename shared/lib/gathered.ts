/**
 * Collects the wanted part of a byte stream that arrives in pieces. It copies the bytes, so that it does not keep the
 * larger receive buffers alive.
 */

export type Gathered = {
  /** Takes as many bytes of `[from, to)` as are still wanted; returns their number. */
  readonly add: (bytes: Uint8Array, from?: number, to?: number) => number;
  readonly isFull: () => boolean;
  /** The number of bytes taken so far. */
  readonly size: () => number;
  /** Returns all bytes taken so far. */
  readonly bytes: () => Buffer;
  /**
   * Moves the bytes taken so far into memory of this collector, so that the caller may reuse its buffer. Idempotent.
   */
  readonly keep: () => void;
};

/**
 * Collects at most `bytesMax` bytes. A first piece is not copied until `keep` is called or a second piece arrives,
 * since it is usually the only one.
 */
export function gathered(bytesMax: number): Gathered {
  let taken: Uint8Array = nothing;
  let size = 0;
  let isCopied = true;

  /** Doubles the capacity, so that many small pieces do not each cause a copy. */
  const reserve = (wanted: number) => {
    if (isCopied && taken.length >= wanted) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(bytesMax, Math.max(wanted, 2 * size)));
    larger.set(taken.subarray(0, size));
    taken = larger;
    isCopied = true;
  };
  return {
    add: (bytes, from = 0, to = bytes.length) => {
      const end = Math.min(to, from + bytesMax - size);
      if (end <= from) return 0;
      if (size === 0) {
        taken = bytes.subarray(from, end);
        isCopied = false;
      } else {
        reserve(size + end - from);
        taken.set(bytes.subarray(from, end), size);
      }
      size += end - from;
      return end - from;
    },
    isFull: () => size >= bytesMax,
    size: () => size,
    bytes: () => Buffer.from(taken.buffer, taken.byteOffset, size),
    keep: () => {
      if (!isCopied) reserve(size);
    },
  };
}

const nothing = new Uint8Array(0);
