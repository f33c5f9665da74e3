/** One timer that rings at the earliest of many instants. */
import type { Clock } from './clock.ts';

/** The timer never sleeps longer, so that a jump of the wall clock is noticed. */
const timerMaxMs = 1_000;
/**
 * The least time between rings that begin something. Each wake-up of an idle process has a cost of its own, so what
 * becomes due meanwhile begins together.
 */
const apartMs = 2;

/** One timer, which rings at the earliest instant that it was set to. */
export function alarmOf(clock: Clock, ring: () => void) {
  let atMs = Number.POSITIVE_INFINITY;
  let cancel: (() => void) | undefined;
  /** On the clock's monotonic time. */
  let notBeforeMs = Number.NEGATIVE_INFINITY;
  const setIn = (delayMs: number, nowMs: number) => {
    const at = nowMs + delayMs;
    if (cancel && atMs <= at) return;
    cancel?.();
    atMs = at;
    cancel = clock.setTimer(delayMs, () => {
      cancel = undefined;
      atMs = Number.POSITIVE_INFINITY;
      ring();
    });
  };
  return {
    set(dueMs: number) {
      if (cancel && atMs <= dueMs) return;
      const nowMs = clock.nowMs();
      const delayMs = Math.min(Math.max(0, dueMs - nowMs), timerMaxMs);
      const restMs = delayMs < apartMs ? Math.ceil(notBeforeMs - clock.monotonicMs()) : 0;
      setIn(Math.max(delayMs, restMs), nowMs);
    },
    /** Rings in the next turn of the event loop. */
    setAtOnce: () => setIn(0, clock.nowMs()),
    /** What is due from now on waits a little, unless it is set to ring at once. */
    keepApart() {
      notBeforeMs = clock.monotonicMs() + apartMs;
    },
    cancel: () => cancel?.(),
  };
}
