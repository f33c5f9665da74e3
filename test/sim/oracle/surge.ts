/** The surge limit, restated from docs/reliability.md ("When a whole shard goes down"). */

/** Failures within this time are counted together. */
export const surgeWindowMs = 60_000;

/** Targets that may turn within the window before it is a surge: three in ten, and at least ten. */
export const turnsBeforeSurge = (targets: number): number => Math.max(10, 0.3 * targets);

/** Periods above this are never held back. */
export const heldPeriodSecondsMax = 30;

const rampMs = 20_000;

/** Targets that may have turned this long after a surge began: evenly all in 20 s, and at least ten a second. */
export function turnsInSurge(surgeMs: number, targets: number): number {
  if (surgeMs >= rampMs) return Number.POSITIVE_INFINITY;
  return Math.ceil(Math.max(surgeMs / 100, (targets * surgeMs) / rampMs));
}
