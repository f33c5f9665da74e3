/** The ticker with which a worker begins: of a new target, of a loaded one, or of one that was taken over. */

import { firstInstant, gapMin, type Phased, type Ticker } from './ticker.ts';

/** A new target is probed at once, then at its first instant at least 0.9 period later. */
export function newTargetTicker(nowMs: number, phased: Phased): Ticker {
  const nextTickMs = firstInstant(Math.ceil(nowMs + gapMin * phased.periodMs), phased);
  return { periodMs: phased.periodMs, nextTickMs, tickHeld: true, triggerHeld: false };
}

/**
 * The previous holder has probed a loaded target, so it waits for its instant. A trigger shifts it until the next load.
 */
export function loadedTicker(nowMs: number, phased: Phased): Ticker {
  const nextTickMs = firstInstant(nowMs, phased);
  return { periodMs: phased.periodMs, nextTickMs, tickHeld: false, triggerHeld: false };
}

/** How far the clocks of two holders may differ: the same instant is that much later for one of them. */
const skewMs = 4_000;

/**
 * How late an instant may be served that passed while the shard had no holder: after a planned hand-over, and after a
 * crash.
 */
const lateMax = { plannedMs: 5_000 - skewMs, crashMs: 25_000 - skewMs } as const;

/** If the shard had no holder for longer than a planned hand-over takes, the holder has crashed, unless it said so. */
const plannedMs = 15_000;

/** `inOrder`: the last holder has ended in order; on a table without capacity that takes longer than otherwise. */
export type Unheld = { readonly sinceMs: number; readonly inOrder: boolean };

/**
 * A loaded target that may not have been probed since `unheld.sinceMs`. It probes at once if its next instant would
 * make up for a missed one too late. Otherwise it waits, so that a hand-over does not probe all targets at once.
 */
export function takenOverTicker(nowMs: number, phased: Phased, unheld: Unheld): Ticker {
  const waiting = loadedTicker(nowMs, phased);
  const missedMs = firstInstant(unheld.sinceMs, phased);
  const isPlanned = unheld.inOrder || nowMs - unheld.sinceMs <= plannedMs;
  const allowedMs = isPlanned ? lateMax.plannedMs : lateMax.crashMs;
  const tooLate = missedMs < nowMs && waiting.nextTickMs - missedMs > allowedMs;
  return tooLate ? pendingTicker(nowMs, phased) : waiting;
}

/**
 * Whether a probe off its phase (after a trigger, a clock jump or a take-over) is pending at a hand-over. The next
 * holder waits for the phase; if that is later than the next tick, it has to make the probe at once.
 */
export function isPendingAtHandover({ nextTickMs }: Ticker, nowMs: number, phased: Phased): boolean {
  return firstInstant(nowMs, phased) - nextTickMs > lateMax.plannedMs;
}

/** A loaded target whose last probe had no result: it probes at once, then returns to its phase. */
export function pendingTicker(nowMs: number, phased: Phased): Ticker {
  return { ...loadedTicker(nowMs, phased), tickHeld: true, returningTo: phased };
}
