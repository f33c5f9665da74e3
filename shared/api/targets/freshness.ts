/**
 * How old the shown state of a target may be. Nothing is written per probe, so a reader joins the beat of the run that
 * holds the target's bucket. Source: docs/design/status.md, Freshness.
 */

import { type Observed, seenAtMsOf, staleAfterMs } from '../../core/status/freshness.ts';
import { decodeEpoch, decodeRun } from '../../store/records/items.ts';
import { type Bucket, epochKey, runKey } from '../../store/records/keys.ts';
import { type EpochRecord, type ObservedRun, observedFor, type RunRecord } from '../../store/records/shard-records.ts';
import type { ApiDeps } from '../ports/deps.ts';

export type Freshness = {
  /** When the probes of the bucket were last done, as far as is known; undefined: no run has claimed the bucket. */
  readonly observed: Observed | undefined;
  /** The prober is in doubt about itself: its observations do not count. */
  readonly degraded: boolean;
  /** The bucket is held once a minute. */
  readonly tick: boolean;
};

/** A probe whose result may be too old to be shown. */
export type ShownProbe = {
  readonly name: string;
  readonly periodSeconds: number;
  /** When its last result began, or its target did if that is later: nothing shown is older. */
  readonly sinceMs: number;
  readonly nowMs: number;
};

/** Since when the result is too old to be shown, ms since the epoch; undefined: it is not. */
export function staleSinceMs({ observed, tick }: Freshness, shown: ShownProbe): number | undefined {
  const seenAtMs = observed ? seenAtMsOf(observed, shown.name) : 0;
  const sinceMs = Math.max(seenAtMs, shown.sinceMs) + staleAfterMs(shown.periodSeconds, tick);
  return shown.nowMs > sinceMs ? sinceMs : undefined;
}

export type ReadFreshness = (bucket: Bucket) => Promise<Freshness>;

/** Reads each bucket's EPOCH once, and each shard's RUN until it is no older than the EPOCH that names it. */
export function freshnessReader({ store, onPoison }: Pick<ApiDeps, 'store' | 'onPoison'>): ReadFreshness {
  const runs = new Map<string, Promise<RunRecord | undefined>>();
  const buckets = new Map<Bucket, Promise<Freshness>>();

  const readRun = async (shard: string, eventuallyConsistent: boolean): Promise<RunRecord | undefined> => {
    const item = await store.get(runKey(shard), { eventuallyConsistent });
    const decoded = item && decodeRun(item);
    if (decoded?.kind === 'poison') onPoison?.(decoded);
    return decoded?.kind === 'ok' ? decoded.record : undefined;
  };
  /** A run claims RUN before any EPOCH. An older RUN was observed before that, perhaps for other buckets. */
  const runOf = async ({ shard, token }: EpochRecord): Promise<RunRecord | undefined> => {
    const run = await once(runs, shard, () => readRun(shard, true));
    if (!run || run.token >= token) return run;
    runs.delete(shard);
    return once(runs, shard, () => readRun(shard, false));
  };
  const read = async (bucket: Bucket): Promise<Freshness> => {
    const item = await store.get(epochKey(bucket), { eventuallyConsistent: true });
    const decoded = item && decodeEpoch(item);
    if (decoded?.kind === 'poison') onPoison?.(decoded);
    if (decoded?.kind !== 'ok') return unobserved;
    const run = await runOf(decoded.record);
    const observed = run && observedFor(decoded.record, run);
    return observed ? freshnessOf(observed) : unobserved;
  };
  return (bucket) => once(buckets, bucket, read);
}

const unobserved: Freshness = { observed: undefined, degraded: false, tick: false };

/** Also valid while RUN and EPOCH have different tokens: a claim continues from what the previous run had observed. */
function freshnessOf({ observedAtMs, degraded, tick = false, behind = {} }: ObservedRun): Freshness {
  return { observed: { observedAtMs, behind }, degraded, tick };
}

function once<Name, Value>(known: Map<Name, Promise<Value>>, name: Name, read: (name: Name) => Promise<Value>) {
  const earlier = known.get(name);
  if (earlier !== undefined) return earlier;
  const value = read(name);
  known.set(name, value);
  return value;
}
