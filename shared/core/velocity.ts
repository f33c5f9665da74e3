/**
 * The surge limit: how fast the targets of a shard may turn unhealthy. Many at once are more likely one cause, possibly one of the
 * prober's own that no canary sees, and subscribers should not get all of it in the same moment. docs/reliability.md derives the bound.
 */

/** The time in which turns are counted together. */
export const surgeWindowMs = 60_000;
const turnsMin = 10;
const turnsPart = 0.3;

/** So long after a surge began all targets of the shard may have turned, each at an even pace until then. */
export const surgeRampMs = 20_000;
/** Of a small shard so many targets may turn each second. */
const turnsPerSecondMin = 10;
/**
 * A probe with a longer period is never held back: its next probe would come too late, and with such a period targets turn more slowly
 * than the limit anyway.
 */
export const heldPeriodMsMax = 30_000;

/** More targets at once than chance would have it. */
export const isSurge = (turning: number, targets: number): boolean => turning > Math.max(turnsMin, turnsPart * targets);

export type Turn = {
  /** Targets that turned, or would have, within the window, this one included. */
  readonly turning: number;
  /** Targets of the shard. */
  readonly targets: number;
  /** Since the surge began. */
  readonly surgeMs: number;
  /** Targets that have turned since the surge began. */
  readonly turned: number;
  /** Of the probe that failed. */
  readonly periodMs: number;
};

/** May this target turn unhealthy now? If not, its next probe decides, and a success takes the failure back. */
export const mayTurn = ({ turning, targets, surgeMs, turned, periodMs }: Turn): boolean =>
  !isSurge(turning, targets) || periodMs > heldPeriodMsMax || turned < turnsUntil(surgeMs, targets);

function turnsUntil(surgeMs: number, targets: number): number {
  if (surgeMs >= surgeRampMs) return Number.POSITIVE_INFINITY;
  return Math.max((turnsPerSecondMin * surgeMs) / 1_000, (targets * surgeMs) / surgeRampMs);
}
