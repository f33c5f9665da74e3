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

export type InheritedLate = { has(held: Pick<HeldTarget, 'target'>, probe: string): boolean };

export function inheritedLate({ late, lateOverflow }: Late): InheritedLate {
  const names = new Set(late);
  return { has: ({ target }, probe) => lateOverflow || names.has(lateName(target, probe)) };
}
