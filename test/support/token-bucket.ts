/** Capacity in units a second, of which what is not used is saved for a few seconds. */
export type TokenBucket = {
  isEmpty(): boolean;
  /** May take more than is left: what a call costs is known only once it has been executed. */
  take(units: number): void;
};

export type BucketSize = { readonly unitsPerSecond: number; readonly savedSeconds: number };

export function tokenBucket({ unitsPerSecond, savedSeconds }: BucketSize, nowMs: () => number): TokenBucket {
  const most = unitsPerSecond * savedSeconds;
  let units = most;
  let sinceMs = nowMs();
  return {
    isEmpty() {
      units = Math.min(most, units + ((nowMs() - sinceMs) / 1_000) * unitsPerSecond);
      sinceMs = nowMs();
      return units <= 0;
    },
    take(count) {
      units -= count;
    },
  };
}
