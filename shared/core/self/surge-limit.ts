/**
 * The surge limit: how fast the targets of a shard may turn unhealthy. Many at once more likely have one cause,
 * possibly a fault of the prober that no canary sees, and subscribers should not get all events in the same moment.
 * docs/reliability.md derives the bound.
 */

/** The window in which turns are counted together. */
export const surgeWindowMs = 60_000;
const turnsMin = 10;
const turnsPart = 0.3;

/** This long after a surge began all targets of the shard may have turned; until then they turn at an even pace. */
export const surgeRampMs = 20_000;
/** In a small shard at least this many targets may turn each second. */
const turnsPerSecondMin = 10;
/**
 * A probe with a longer period is never held back: its next probe would come too late, and with such a period targets
 * turn more slowly than the limit anyway.
 */
export const heldPeriodMsMax = 30_000;

/** More targets at once than chance explains. */
export const isSurge = (turning: number, targets: number): boolean => turning > Math.max(turnsMin, turnsPart * targets);

export type Turn = {
  /** Targets that turned, or would have, within the window, this one included. */
  readonly turning: number;
  /** Targets of the shard. */
  readonly targets: number;
  /** Time since the surge began. */
  readonly surgeMs: number;
  /** Targets that have turned since the surge began. */
  readonly turned: number;
  /** Period of the probe that failed. */
  readonly periodMs: number;
};

/** Whether this target may turn unhealthy now. If not, its next probe decides, and a success withdraws the failure. */
export const mayTurn = ({ turning, targets, surgeMs, turned, periodMs }: Turn): boolean =>
  !isSurge(turning, targets) || periodMs > heldPeriodMsMax || turned < turnsUntil(surgeMs, targets);

function turnsUntil(surgeMs: number, targets: number): number {
  if (surgeMs >= surgeRampMs) return Number.POSITIVE_INFINITY;
  return Math.max((turnsPerSecondMin * surgeMs) / 1_000, (targets * surgeMs) / surgeRampMs);
}
