/**
 * Run lengths below their threshold are the only thing a crash may lose. Once a minute, and at the end of a run, those that differ from
 * what their PROBE item holds are written to the CHECKPOINT items of their bucket; an entry counts only for the same uid and streak.
 */
import { isOwedAtHandover } from '../core/ticker.ts';
import type { CheckpointEntry } from '../store/items.ts';
import { encodeCheckpoint } from '../store/items.ts';
import type { Bucket } from '../store/keys.ts';
import { probeKey } from '../store/keys.ts';
import { type Item, StoreUnavailable } from '../store/store.ts';
import { type CheckpointEntries, checkpointParts } from './checkpoint-items.ts';
import { epochCheck } from './fence.ts';
import type { HeldTarget } from './held.ts';
import { fencedPorts } from './ports.ts';
import { phasedOf } from './roster.ts';
import type { Run } from './run.ts';
import { saturatedRun } from './transition.ts';
import { writeSurely } from './write.ts';

export const checkpointIntervalMs = 60_000;

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

/** The text of each bucket's CHECKPOINT items as they stand in the store. */
export type WrittenCheckpoints = Map<Bucket, readonly string[]>;

/**
 * Writes the items whose entries differ from what `written` says stands there, and brings `written` up to date. One that cannot be stored is
 * logged and left: it costs run lengths, as a crash would, and is no reason to end a run that beats.
 * @throws StoreUnavailable
 */
export async function writeCheckpoints(
  run: Run,
  entries: ReadonlyMap<Bucket, CheckpointEntries>,
  written: WrittenCheckpoints,
): Promise<void> {
  // A bucket whose last target has left has no entries any more, and its old ones go.
  for (const bucket of new Set([...written.keys(), ...entries.keys()])) {
    const parts = checkpointParts(entries.get(bucket) ?? {});
    const texts = [...(written.get(bucket) ?? [])];
    const items = Math.max(parts.length, texts.length);
    for (let part = 0; part < items; part += 1) {
      const own = parts[part] ?? {};
      const text = JSON.stringify(own);
      if (text === (texts[part] ?? '{}')) continue;
      if (!run.inForce()) return;
      if (await isWritten(run, encodeCheckpoint(bucket, { entries: own }, part), bucket)) texts[part] = text;
    }
    written.set(
      bucket,
      Array.from(texts, (text) => text ?? '{}'),
    );
  }
}

async function isWritten(run: Run, item: Item, bucket: Bucket): Promise<boolean> {
  try {
    const outcome = await writeSurely(fencedPorts(run.ports), [epochCheck(run, bucket), { kind: 'put', item }]);
    if (outcome.kind === 'refused' && outcome.refusals.some((refusal) => refusal.kind === 'condition'))
      run.end({ kind: 'fenced' });
    return outcome.kind === 'written';
  } catch (cause) {
    if (cause instanceof StoreUnavailable) throw cause;
    run.ports.log.error('checkpoint not stored', { key: { pk: item.pk, sk: item.sk }, cause });
    return false;
  }
}
