/**
 * Time for alerts. The wall clock is set, by hand or by NTP, back and ahead; a duration that is measured by it would
 * pass at once or last for hours. So durations are measured in steady time, which begins as wall time and continues as
 * the monotonic clock does. Wall time is shown, and says when a silence holds.
 */
import type { Clock } from '../lib/clock.ts';

export type AlertTime = {
  /** What the wall clock shows, ms since the epoch. */
  readonly wallMs: number;
  /** Never goes back. */
  readonly steadyMs: number;
  /** The steady time at which the wall clock showed this; never later than now. */
  readonly steadyOf: (wallMs: number) => number;
};

/** The wall clock moved evenly from one reading to another, `aheadMs` ahead of the monotonic one. */
type Even = { readonly fromMs: number; readonly toMs: number; readonly aheadMs: number };

/** A clock that is corrected slowly moves less than this within a reading. */
const stepMsMin = 500;
/** Steps that are remembered. */
const stepsMax = 16;

/** Returns a function that reads both clocks. Steps of the wall clock are as exact as readings are frequent. */
export function alertClock(clock: Clock): () => AlertTime {
  const firstMs = clock.monotonicMs();
  const beganMs = clock.nowMs() - firstMs;
  let evens: readonly Even[] = [{ fromMs: Number.NEGATIVE_INFINITY, toMs: firstMs, aheadMs: beganMs }];
  return () => {
    const [wallMs, readMs] = [clock.nowMs(), clock.monotonicMs()];
    evens = read(evens, wallMs - readMs, readMs);
    const known = evens;
    const steadyOf = (shownMs: number) => Math.round(beganMs + monotonicOf(known, shownMs, readMs));
    return { wallMs, steadyMs: Math.round(beganMs + readMs), steadyOf };
  };
}

function read(evens: readonly Even[], aheadMs: number, readMs: number): readonly Even[] {
  const last = evens.at(-1);
  if (!last) return evens;
  const seen = { ...last, toMs: readMs };
  if (Math.abs(aheadMs - last.aheadMs) < stepMsMin) return evens.with(-1, seen);
  const [, ...later] = evens;
  const kept = evens.length < stepsMax ? evens.slice(0, -1) : later.slice(0, -1);
  const [first = seen, ...rest] = [...kept, seen];
  return [{ ...first, fromMs: Number.NEGATIVE_INFINITY }, ...rest, { fromMs: last.toMs, toMs: readMs, aheadMs }];
}

/** The latest time at which the wall clock can have shown this. */
function monotonicOf(evens: readonly Even[], shownMs: number, readMs: number): number {
  for (const { fromMs, toMs, aheadMs } of [...evens].reverse()) {
    const atMs = shownMs - aheadMs;
    if (atMs >= fromMs && atMs <= toMs) return atMs;
  }
  return readMs;
}
