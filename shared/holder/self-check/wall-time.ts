/**
 * Compares wall time with monotonic time to detect that the clock was set, so that times computed from it can be moved
 * too.
 */
import { isClockJump } from '../../core/self/health.ts';
import type { Clock } from '../../lib/clock.ts';

export type WallTime = {
  /**
   * Wall time now, ms since the epoch. If it has jumped since the last look, `jumped` is called first with the
   * difference.
   */
  lookMs(jumped: (jumpMs: number) => void): number;
  /** How far wall time is ahead of monotonic time, without jumps since the last look. */
  offsetMs(): number;
};

/**
 * `keptOffsetMs`: the offset of an earlier watch whose instants are still in use. The first look detects a jump since
 * then.
 */
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
 * If the clock is now further ahead than before, the present offset applies: kept instants merely become due. The clock
 * need not have been set, because monotonic time may have stood still while a function was frozen.
 */
function firstOffsetMs(clock: Clock, keptOffsetMs: number | undefined): number {
  const offsetMs = clock.nowMs() - clock.monotonicMs();
  if (keptOffsetMs === undefined) return offsetMs;
  const jumpMs = offsetMs - keptOffsetMs;
  return jumpMs < 0 && isClockJump(jumpMs) ? keptOffsetMs : offsetMs;
}
