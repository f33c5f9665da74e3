/** One timer that rings at the earliest of many instants. */
import type { Clock } from './clock.ts';

/** The timer never sleeps longer, so that a jump of the wall clock is noticed. */
const timerMaxMs = 1_000;

/** One timer, which rings at the earliest instant that it was set to. */
export function alarmOf(clock: Clock, ring: () => void) {
  let atMs = Number.POSITIVE_INFINITY;
  let cancel: (() => void) | undefined;
  return {
    set(dueMs: number) {
      const nowMs = clock.nowMs();
      const at = Math.min(Math.max(dueMs, nowMs), nowMs + timerMaxMs);
      if (cancel && atMs <= at) return;
      cancel?.();
      atMs = at;
      cancel = clock.setTimer(at - nowMs, () => {
        cancel = undefined;
        atMs = Number.POSITIVE_INFINITY;
        ring();
      });
    },
    cancel: () => cancel?.(),
  };
}
