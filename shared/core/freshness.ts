/** When a result is too old to be shown: by the same rule where it is read and where the holder counts what is late. */
import { tickSlotMs } from './slots.ts';

const staleAfterMsMin = 40_000;
const stalePeriods = 3;

/** A result whose probe was last done longer ago than this is not known any more. `tick`: no probe is done more often than once a slot. */
export function staleAfterMs(periodSeconds: number, tick = false): number {
  const periodMs = Math.max(periodSeconds * 1000, tick ? tickSlotMs : 0);
  return Math.max(staleAfterMsMin, stalePeriods * periodMs);
}

/** How long beyond its period, or its time-out, a probe may take before its beat names it: longer than any wait in good health. */
const behindAfterMs = 20_000;

/** Whether a probe was last done so long ago that the time of the last beat says nothing of it any more. */
export function isBehind(
  { seenAtMs, periodSeconds, timeoutSeconds }: Seen,
  { nowMs, tick }: { readonly nowMs: number; readonly tick: boolean },
): boolean {
  const everyMs = Math.max(periodSeconds * 1000, timeoutSeconds * 1000, tick ? tickSlotMs : 0);
  return nowMs - seenAtMs > everyMs + behindAfterMs;
}

/** `seenAtMs`: when the probe was last done. */
export type Seen = { readonly seenAtMs: number; readonly periodSeconds: number; readonly timeoutSeconds: number };

/** When the probes that are behind were last done, ms since the epoch, by their `probeLabel`. */
export type Behind = { readonly [label: string]: number };

/** How many probes a beat names. */
export const behindMax = 100;

/** When the probes of a shard were last done: those that are named then, all others not before `observedAtMs`. */
export type Observed = { readonly observedAtMs: number; readonly behind: Behind };

/** `isStale`: its result must not be shown, whatever else is known. */
export type BehindProbe = { readonly label: string; readonly seenAtMs: number; readonly isStale: boolean };

/**
 * Names the stale probes first, the ones that were last done longest ago before the others. Where more are stale than can be named, the
 * others pull `observedAtMs` back to when the first of them was last done.
 */
export function boundedObserved(observedAtMs: number, behind: readonly BehindProbe[]): Observed {
  if (behind.length === 0) return { observedAtMs, behind: {} };
  const inOrder = [...behind].sort(
    (one, other) => Number(other.isStale) - Number(one.isStale) || one.seenAtMs - other.seenAtMs,
  );
  const unnamed = inOrder[behindMax];
  const leastMs = unnamed?.isStale ? Math.min(observedAtMs, unnamed.seenAtMs) : observedAtMs;
  const named = inOrder.slice(0, behindMax).map(({ label, seenAtMs }) => [label, Math.max(0, seenAtMs)]);
  return { observedAtMs: Math.max(0, leastMs), behind: Object.fromEntries(named) };
}

/** When a probe was last done, as far as is known. */
export const seenAtMsOf = ({ observedAtMs, behind }: Observed, label: string): number =>
  Object.hasOwn(behind, label) ? (behind[label] ?? observedAtMs) : observedAtMs;

/** How a probe is named in a beat. */
export const probeLabel = (target: { readonly namespace: string; readonly name: string }, probe: string): string =>
  `${target.namespace}/${target.name}#${probe}`;
