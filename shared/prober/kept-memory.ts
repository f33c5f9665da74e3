/**
 * What the probes in flight may keep of what peers send. Each has a little of its own, so that one peer cannot take it from a neighbour;
 * beyond that all of a process share one budget. Who finds no room gives up: a prober error, since it says nothing about the peer.
 */

/** Enough for the fields of any ordinary response. */
const ownBytes = 16 * 1024;
/** Of one probe: no URL or coding list has a meaning beyond that. */
const ofOneProbeBytesMax = 256 * 1024;
/** Of all probes of a process, beyond what each has of its own. */
const sharedBytesMax = 4 * 1024 * 1024;

export type KeptMemory = {
  /** Of one attempt of a probe. */
  readonly open: () => KeptOfProbe;
};

export type KeptOfProbe = {
  /** Whether so many bytes more may be kept until `close`. */
  readonly reserve: (bytes: number) => boolean;
  /** Nothing is kept any more. Idempotent. */
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
