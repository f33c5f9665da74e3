/**
 * Whether a prober has more to do than it can: then its probes begin late, all of them alike, since the one that has
 * been due longest begins first. Their results still count, so an overload is no doubt (self-health.ts).
 */

/** What there is too little of. `Sockets`: the socket budget, which follows from the limit of descriptors. */
export type OverloadReason = 'Cpu' | 'Sockets';

/** `sinceMs`: wall time. `socketsMax`: the socket budget, if the machine refused more (socket-limit.ts). */
export type Overload = { readonly reason: OverloadReason; readonly sinceMs: number; readonly socketsMax?: number };

export type LoadState = {
  readonly overload: Overload | undefined;
  /** Looks in a row that say the opposite, and when the first of them was. */
  readonly opposite: number;
  readonly oppositeSinceMs: number;
};

/** What a look finds of the time since the look before. */
export type Look = {
  readonly begun: number;
  /** How many of these began late. */
  readonly late: number;
  /** A probe has been due for so long that it would begin late. */
  readonly isLateNow: boolean;
  readonly reason: OverloadReason;
};

/** `overload`: of the run before. */
export const loadState = (overload?: Overload): LoadState => ({ overload, opposite: 0, oppositeSinceMs: 0 });

/** A probe that begins so long after it was due begins late. */
export const lateAfterMs = 1_000;

/** A prober with so many late begins, as a part of all, has too much to do. */
const latePartMin = 0.1;
/**
 * Half a minute of looks at each beat. After a restart, a hand-over or a pause everything is due at once, and that is
 * over sooner.
 */
const oppositeMax = 6;

/** The state after one more look. `nowMs`: wall time. */
export function afterLook({ overload, opposite, oppositeSinceMs }: LoadState, look: Look, nowMs: number): LoadState {
  const isBehind = look.begun === 0 ? look.isLateNow : look.late >= latePartMin * look.begun;
  if (isBehind && overload) return loadState({ ...overload, reason: look.reason });
  if (isBehind === (overload !== undefined)) return loadState(overload);
  const sinceMs = opposite === 0 ? nowMs : oppositeSinceMs;
  if (opposite + 1 < oppositeMax) return { overload, opposite: opposite + 1, oppositeSinceMs: sinceMs };
  return loadState(isBehind ? { reason: look.reason, sinceMs } : undefined);
}
