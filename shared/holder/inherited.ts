/**
 * What is known about a shard when its run begins: what the previous run knew or, after a layout change, what all
 * holders of its buckets knew. A hand-over makes no result fresher.
 */

import type { TargetRecord } from '../core/spec/records.ts';
import type { ProbeName } from '../core/spec/spec.ts';
import {
  type BehindProbe,
  boundedObserved,
  isBehind,
  type Observed,
  probeLabel,
  seenAtMsOf,
  staleAfterMs,
} from '../core/status/freshness.ts';
import { decodeEpoch, decodeRun } from '../store/records/items.ts';
import { type Bucket, epochKey, runKey } from '../store/records/keys.ts';
import { type ObservedRun, observedFor, type RunRecord } from '../store/records/shard-records.ts';
import type { Item, Key } from '../store/store.ts';
import { readChanges } from '../table/change-counters.ts';
import type { HeldTarget } from './probing/worker.ts';
import type { Run } from './run.ts';

export type Inherited = Observed & {
  readonly degraded: boolean;
  /** Whether the state last published to subscribers is degraded. */
  readonly degradedTold: boolean;
  readonly overloaded: boolean;
  /** Whether the state last published to subscribers is overloaded. */
  readonly overloadedTold: boolean;
};

/** For a shard that no run has held. */
const nothing: Inherited = {
  observedAtMs: 0,
  degraded: false,
  degradedTold: false,
  overloaded: false,
  overloadedTold: false,
  behind: {},
};

/**
 * Combines what these runs knew. `undefined` stands for a run whose RUN is unreadable or belongs to other buckets, so
 * nothing is known about its probes.
 */
export function inheritedFrom(runs: readonly (ObservedRun | undefined)[]): Inherited {
  if (runs.length === 0) return nothing;
  const known = runs.filter((run) => run !== undefined);
  const observedAtMs = Math.min(...runs.map((run) => run?.observedAtMs ?? 0));
  const behind = new Map<string, number>();
  for (const [label, seenAtMs] of known.flatMap((run) => Object.entries(run.behind ?? {})))
    behind.set(label, Math.min(seenAtMs, behind.get(label) ?? seenAtMs));
  return {
    ...boundedObserved(
      observedAtMs,
      // The limit beyond which each probe is stale is not known here, so all count as stale.
      [...behind].map(([label, seenAtMs]) => ({ label, seenAtMs, isStale: true })),
    ),
    degraded: known.some(({ degraded }) => degraded),
    degradedTold: known.some(({ degraded, degradedTold = degraded }) => degradedTold),
    overloaded: known.some(({ overloaded = false }) => overloaded),
    overloadedTold: known.some(({ overloaded = false, overloadedTold = overloaded }) => overloadedTold),
  };
}

/** Items read concurrently. */
const readsAtOnce = 25;

/**
 * Reads what the previous holders of the run's buckets knew. Must be called before the run claims them.
 * @throws StoreUnavailable
 */
export async function predecessorsOf({ ports, message }: Run): Promise<readonly (ObservedRun | undefined)[]> {
  const { store } = ports;
  const used: readonly Bucket[] = [...(await readChanges(store, message.buckets, false)).keys()];
  const read = async (keys: readonly Key[]) => {
    const items: (Item | undefined)[] = [];
    for (let at = 0; at < keys.length; at += readsAtOnce)
      items.push(...(await Promise.all(keys.slice(at, at + readsAtOnce).map((key) => store.get(key)))));
    return items;
  };
  const epochs = (await read(used.map(epochKey))).flatMap((item) => {
    const epoch = item && decodeEpoch(item);
    return epoch?.kind === 'ok' ? [epoch.record] : [];
  });
  const shards = [...new Set(epochs.map((epoch) => epoch.shard))];
  const items = await read(shards.map(runKey));
  const runs = new Map(shards.map((shard, at) => [shard, runOf(items[at])] as const));
  return epochs.map((epoch) => {
    const run = runs.get(epoch.shard);
    return run && observedFor(epoch, run);
  });
}

/** An unreadable RUN counts as absent and is overwritten. */
export function runOf(item: Item | undefined): RunRecord | undefined {
  const decoded = item && decodeRun(item);
  return decoded?.kind === 'ok' ? decoded.record : undefined;
}

/** `late`: how many probes are late, so that their results are no longer shown. `nowMs`: wall time. */
export function observedNow(
  targets: Iterable<HeldTarget>,
  { nowMs, tick, observedAtMs }: { readonly nowMs: number; readonly tick: boolean; readonly observedAtMs: number },
): Observed & { readonly late: number } {
  const behind: BehindProbe[] = [];
  for (const { target, workers } of targets) {
    for (const { name, spec, seenAtMs } of workers.values()) {
      const { periodSeconds, timeoutSeconds } = spec.probe;
      if (!isBehind({ seenAtMs, periodSeconds, timeoutSeconds }, { nowMs, tick })) continue;
      const isStale = nowMs - seenAtMs > staleAfterMs(periodSeconds, tick);
      behind.push({ label: probeLabel(target, name), seenAtMs, isStale });
    }
  }
  return { ...boundedObserved(observedAtMs, behind), late: behind.filter(({ isStale }) => isStale).length };
}

/** When a probe that is taken over was last done, as far as the previous run knew. `nowMs`: wall time. */
export function inheritedSeenAtMs(observed: Observed, target: TargetRecord, probe: ProbeName, nowMs: number): number {
  return Math.min(nowMs, Math.max(seenAtMsOf(observed, probeLabel(target, probe)), target.creationTimestampMs));
}
