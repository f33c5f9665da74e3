/**
 * How much of the peers' data the probes in flight may keep. Each probe has a small reserve, so that one peer cannot
 * take it from another; beyond it all probes of a process share one budget. A probe that exceeds the budget ends in a
 * prober error, because that says nothing about the peer.
 */

/** Enough for the fields of any ordinary response. */
const ownBytes = 16 * 1024;
/** Limit for one probe: no URL or coding list has a meaning beyond that. */
const ofOneProbeBytesMax = 256 * 1024;
/** Limit for all probes of a process, beyond their reserves. */
const sharedBytesMax = 4 * 1024 * 1024;

export type KeptMemory = {
  /** For one attempt of a probe. */
  readonly open: () => KeptOfProbe;
};

export type KeptOfProbe = {
  /** Whether this many more bytes may be kept until `close`. */
  readonly reserve: (bytes: number) => boolean;
  /** Releases everything. Idempotent. */
  readonly close: () => void;
};

/** One for each process. */
export function keptMemory(): KeptMemory {
  let sharedBytes = 0;
  return {
    open: () => {
      let bytesKept = 0;
      const sharedPart = (bytes: number) => Math.max(0, bytes - ownBytes);
      return {
        reserve: (bytes) => {
          const wanted = sharedPart(bytesKept + bytes) - sharedPart(bytesKept);
          const isRefused = wanted > 0 && sharedBytes + wanted > sharedBytesMax;
          if (isRefused || bytesKept + bytes > ofOneProbeBytesMax) return false;
          bytesKept += bytes;
          sharedBytes += wanted;
          return true;
        },
        close: () => {
          sharedBytes -= sharedPart(bytesKept);
          bytesKept = 0;
        },
      };
    },
  };
}

export const keptMessage = 'what the peer sends is too large to keep';
