/**
 * Run lengths below their threshold are the only thing a crash may lose. Once a minute, and at the end of a run, those that differ from
 * what their PROBE item holds are written, one CHECKPOINT item a bucket; an entry counts only for the same uid and streak.
 */
import { isOwedAtHandover } from '../core/ticker.ts';
import type { CheckpointEntry, CheckpointRecord } from '../store/items.ts';
import { encodeCheckpoint } from '../store/items.ts';
import type { Bucket } from '../store/keys.ts';
import { probeKey } from '../store/keys.ts';
import { epochCheck } from './fence.ts';
import type { HeldTarget } from './held.ts';
import { phasedOf } from './roster.ts';
import type { Run } from './run.ts';
import { saturatedRun } from './transition.ts';
import { writeSurely } from './write.ts';

export const checkpointIntervalMs = 60_000;

export type CheckpointEntries = CheckpointRecord['entries'];

/**
 * What of these targets a reader could not know from their PROBE items. `endsAtMs` (wall time): the run ends then, so what is off its phase
 * is owed too.
 */
export function checkpointEntries(
  targets: Iterable<HeldTarget>,
  endsAtMs?: number,
): ReadonlyMap<Bucket, CheckpointEntries> {
  const buckets = new Map<Bucket, Record<string, CheckpointEntry>>();
  for (const held of targets) {
    const entries = buckets.get(held.address.bucket) ?? {};
    buckets.set(held.address.bucket, entries);
    for (const probe of held.probes.values()) {
      const resultRun = saturatedRun(probe.worker, probe.workerSpec);
      const { lastResult } = probe.worker;
      const owed =
        probe.owed ||
        (endsAtMs !== undefined && isOwedAtHandover(probe.ticker, endsAtMs, phasedOf(held.target, probe)));
      const isStored = resultRun === probe.record.resultRun || lastResult === undefined;
      if (!owed && isStored && probe.requestsSeen === 0) continue;
      const { uid, streak } = probe.record;
      entries[probeKey(held.address, probe.name).sk] = {
        uid,
        streak,
        resultRun,
        ...(lastResult && { lastResult }),
        ...(owed && { owed: true }),
        ...(probe.requestsSeen > 0 && { requestsSeen: probe.requestsSeen }),
      };
    }
  }
  return buckets;
}

/** Writes the buckets whose entries differ from what `written` says stands there, and brings `written` up to date. */
export async function writeCheckpoints(
  run: Run,
  entries: ReadonlyMap<Bucket, CheckpointEntries>,
  written: Map<Bucket, string>,
): Promise<void> {
  // A bucket whose last target has left has no entries any more, and its old ones go.
  for (const bucket of new Set([...written.keys(), ...entries.keys()])) {
    const bucketEntries = entries.get(bucket) ?? {};
    const text = JSON.stringify(bucketEntries);
    if (text === (written.get(bucket) ?? '{}')) continue;
    if (!run.inForce()) return;
    const outcome = await writeSurely(run.ports, [
      epochCheck(run, bucket),
      { kind: 'put', item: encodeCheckpoint(bucket, { entries: bucketEntries }) },
    ]);
    if (outcome.kind === 'written') written.set(bucket, text);
    else if (outcome.kind === 'refused' && outcome.refusals.some((refusal) => refusal.kind === 'condition')) {
      run.end({ kind: 'fenced' });
      return;
    }
  }
}
