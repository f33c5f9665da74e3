/** What is wanted of bytes that arrive in pieces: copied, so that it does not hold the buffers in which they arrived, which are larger. */

export type Gathered = {
  /** Takes of `[from, to)` at most what is still wanted; returns how much that was. */
  readonly add: (bytes: Uint8Array, from?: number, to?: number) => number;
  readonly isFull: () => boolean;
  /** All that was taken. */
  readonly bytes: () => Buffer;
  /** More will come later: from now on what was taken has memory of its own. Idempotent. */
  readonly keep: () => void;
};

/** `bytesMax`: how much is wanted. Until `keep` is called, or a second piece comes, the only piece is not copied: it is most often the whole. */
export function gathered(bytesMax: number): Gathered {
  let taken: Uint8Array = nothing;
  let size = 0;
  let isOwn = true;

  /** With room for more, doubled, so that many small pieces are not copied each time. */
  const makeRoom = (wanted: number) => {
    if (isOwn && taken.length >= wanted) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(bytesMax, Math.max(wanted, 2 * size)));
    larger.set(taken.subarray(0, size));
    taken = larger;
    isOwn = true;
  };
  return {
    add: (bytes, from = 0, to = bytes.length) => {
      const end = Math.min(to, from + bytesMax - size);
      if (end <= from) return 0;
      if (size === 0) {
        taken = bytes.subarray(from, end);
        isOwn = false;
      } else {
        makeRoom(size + end - from);
        taken.set(bytes.subarray(from, end), size);
      }
      size += end - from;
      return end - from;
    },
    isFull: () => size >= bytesMax,
    bytes: () => Buffer.from(taken.buffer, taken.byteOffset, size),
    keep: () => {
      if (!isOwn) makeRoom(size);
    },
  };
}

const nothing = new Uint8Array(0);
