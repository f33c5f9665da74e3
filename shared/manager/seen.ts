/** How long ago the probes of a shard were last done: what a beat says of them, and what the next run takes over. */
import {
  type BehindProbe,
  boundedObserved,
  isBehind,
  type Observed,
  probeLabel,
  seenAtMsOf,
  staleAfterMs,
} from '../core/freshness.ts';
import type { HeldTarget } from './held.ts';

type Look = { readonly nowMs: number; readonly tick: boolean; readonly observedAtMs: number };

/** `late`: how many probes have not been done for so long that their results are not shown any more. `nowMs`: wall time. */
export function observedNow(
  targets: Iterable<HeldTarget>,
  { nowMs, tick, observedAtMs }: Look,
): Observed & { readonly late: number } {
  const behind: BehindProbe[] = [];
  for (const { target, probes } of targets) {
    for (const { name, seenAtMs, spec } of probes.values()) {
      if (!isBehind({ seenAtMs, ...spec }, { nowMs, tick })) continue;
      const isStale = nowMs - seenAtMs > staleAfterMs(spec.periodSeconds, tick);
      behind.push({ label: probeLabel(target, name), seenAtMs, isStale });
    }
  }
  return { ...boundedObserved(observedAtMs, behind), late: behind.filter(({ isStale }) => isStale).length };
}

/** When a probe that is taken over was last done, as far as the run before knew. `nowMs`: wall time. */
export function inheritedSeenAtMs(
  observed: Observed,
  { target }: Pick<HeldTarget, 'target'>,
  { probe, nowMs }: { readonly probe: string; readonly nowMs: number },
): number {
  return Math.min(nowMs, Math.max(seenAtMsOf(observed, probeLabel(target, probe)), target.creationTimestampMs));
}
