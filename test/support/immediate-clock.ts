import type { Clock } from '../../shared/lib/clock.ts';

/**
 * A clock whose time moves only when something waits, and then at once: waits cost nothing and are recorded. Timers of
 * `farMs` and beyond (time-outs of calls) never fire.
 */
export function immediateClock(farMs = 1_000, startMs = 0): Clock & { readonly waits: readonly number[] } {
  let elapsedMs = 0;
  const waits: number[] = [];
  return {
    waits,
    nowMs: () => startMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    setTimer: (delayMs, callback) => {
      if (delayMs >= farMs) return () => {};
      waits.push(delayMs);
      const timer = setImmediate(() => {
        elapsedMs += delayMs;
        callback();
      });
      return () => clearImmediate(timer);
    },
  };
}
