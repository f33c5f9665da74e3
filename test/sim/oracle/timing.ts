/**
 * Due times, restated from docs/semantics.md and docs/design/probing.md. Nothing of the product is imported: a checker
 * that asked the product would agree with its bugs.
 */

const secondMs = 1_000;
const tickSlotMs = 60_000;
/** How long a holder keeps its shard before it hands it over. */
export const slotMs = 780 * secondMs;

/** Freshness: a result is shown for 40 s and for three periods, which are at least a minute in tick mode. */
export function shownForMs(periodSeconds: number, isTick: boolean): number {
  const periodMs = isTick ? Math.max(periodSeconds * secondMs, tickSlotMs) : periodSeconds * secondMs;
  return Math.max(40 * secondMs, 3 * periodMs);
}

/** Worker, rule 7: running for less than the initial delay, in whole seconds, is too early for a probe. */
export function isTooEarly(startedAtMs: number, initialDelaySeconds: number, nowMs: number): boolean {
  return Math.trunc((nowMs - startedAtMs) / secondMs) < initialDelaySeconds;
}

const requestFirstMs = 10 * secondMs;
/** The longest time between two publications of one restart request. */
export const requestMaxMs = 300 * secondMs;

/** A restart request that was published so many times is published again after this. */
export const requestAgainMs = (published: number): number =>
  Math.min(requestMaxMs, requestFirstMs * 2 ** (published - 1));

/** Subscribers learn that no process holds a shard when its beat is older than this. */
export const noHolderAfterMs = (isTick: boolean): number => (isTick ? 240 : 60) * secondMs;
