/** Which probes of a shard have not been done for too long: what a beat says of them, and what the next run takes over. */
import { boundedLate, type Late, lateName, staleAfterMs } from '../core/freshness.ts';
import type { HeldTarget } from './held.ts';

type Look = { readonly nowMs: number; readonly tick: boolean };

/** `nowMs`: wall time. */
export function lateProbes(targets: Iterable<HeldTarget>, { nowMs, tick }: Look): Late {
  const names: string[] = [];
  for (const { target, probes } of targets) {
    for (const { name, seenAtMs, spec } of probes.values())
      if (nowMs - seenAtMs > staleAfterMs(spec.periodSeconds, tick)) names.push(lateName(target, name));
  }
  return boundedLate(names);
}

/** When a probe that is taken over was last done, as far as the run before knew. `nowMs`: wall time. */
export function inheritedSeenAtMs(
  { observedAtMs, late, lateOverflow }: Late & { readonly observedAtMs: number },
  { target }: Pick<HeldTarget, 'target'>,
  { probe, nowMs }: { readonly probe: string; readonly nowMs: number },
): number {
  if (lateOverflow || late.includes(lateName(target, probe))) return Number.NEGATIVE_INFINITY;
  return Math.min(nowMs, Math.max(observedAtMs, target.creationTimestampMs));
}
