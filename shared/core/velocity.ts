/**
 * How fast a shard may say that its targets turned unhealthy. Many at once are more likely one cause, possibly the prober's own that no
 * canary sees; whoever acts on the news should not get all of it at the same moment.
 */

/** The time in which turns are counted together. */
export const surgeWindowMs = 60_000;
const turnsMin = 10;
const turnsPart = 0.3;
/** Of a surge, how many targets turn in a second. */
export const turnsPerSecond = 10;

/** More targets at once than chance would have it. */
export const isSurge = (turning: number, targets: number): boolean => turning > Math.max(turnsMin, turnsPart * targets);

export type Turns = {
  /** Targets that turned, or asked to, within the window, this one included. */
  readonly turning: number;
  /** Targets of the shard. */
  readonly targets: number;
  /** Of a surge, those let through in the last second. */
  readonly grantedInSecond: number;
};

/** May one more target turn unhealthy now? Else its probe has to fail once more to be asked again, and a success takes it back. */
export const mayTurn = ({ turning, targets, grantedInSecond }: Turns): boolean =>
  !isSurge(turning, targets) || grantedInSecond < turnsPerSecond;
