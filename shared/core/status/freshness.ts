/** When a result is too old to be shown. The API and the holder's count of late probes use this one rule. */
import { tickSlotMs } from '../shards/slots.ts';

const staleAfterMsMin = 40_000;
const stalePeriods = 3;

/**
 * A result is shown as unknown when its probe was last done longer ago than this. `tick`: a probe is done at most once
 * a slot.
 */
export function staleAfterMs(periodSeconds: number, tick = false): number {
  const periodMs = Math.max(periodSeconds * 1000, tick ? tickSlotMs : 0);
  return Math.max(staleAfterMsMin, stalePeriods * periodMs);
}

/**
 * How far beyond its period, or its time-out, a probe may be before its beat names it. Longer than any wait of a
 * healthy prober.
 */
const behindAfterMs = 20_000;

/** Whether the probe was last done so long ago that the time of the last beat does not apply to it. */
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

/**
 * When the probes of a shard were last done: the named ones at their time, all others no earlier than `observedAtMs`.
 */
export type Observed = { readonly observedAtMs: number; readonly behind: Behind };

/** `isStale`: its result must not be shown, regardless of what else is known. */
export type BehindProbe = { readonly label: string; readonly seenAtMs: number; readonly isStale: boolean };

/**
 * Names stale probes first, in the order in which they were last done. If more are stale than can be named,
 * `observedAtMs` moves back to the oldest of the rest.
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
