/** Wall time held against monotonic time, so that a clock that was set is seen as one: what was set by it is to be moved with it. */
import { isClockJump } from '../../core/self-health.ts';
import type { Clock } from '../../lib/clock.ts';

export type WallTime = {
  /** Wall time now, ms since the epoch. Where it jumped since the last look, `jumped` is called first, with by how much. */
  lookMs(jumped: (jumpMs: number) => void): number;
  /** By how much it was ahead of monotonic time before what jumped since. */
  offsetMs(): number;
};

/** `keptOffsetMs`: of an earlier watch, whose instants are still in use; a jump since then is seen at the first look. */
export function watchedWallTime(clock: Clock, keptOffsetMs?: number): WallTime {
  let offsetMs = firstOffsetMs(clock, keptOffsetMs);
  return {
    lookMs(jumped) {
      const nowMs = clock.nowMs();
      const jumpMs = nowMs - clock.monotonicMs() - offsetMs;
      if (isClockJump(jumpMs)) {
        offsetMs += jumpMs;
        jumped(jumpMs);
      }
      return nowMs;
    },
    offsetMs: () => offsetMs,
  };
}

/**
 * A clock that is further ahead now than it was counts from now on: kept instants are due, no more. It need not have been set, as monotonic
 * time may have stood still in a function that was frozen.
 */
function firstOffsetMs(clock: Clock, keptOffsetMs: number | undefined): number {
  const offsetMs = clock.nowMs() - clock.monotonicMs();
  if (keptOffsetMs === undefined) return offsetMs;
  const jumpMs = offsetMs - keptOffsetMs;
  return jumpMs < 0 && isClockJump(jumpMs) ? keptOffsetMs : offsetMs;
}
