/**
 * Run lengths below their threshold are the only state that a crash may lose. Once a minute, and at the end of a run,
 * those that differ from their PROBE item are written to the CHECKPOINT items of their bucket. An entry counts only for
 * the same uid and streak.
 */

import { isPendingAtHandover } from '../core/kubelet/ticker.ts';
import { sleep } from '../lib/clock.ts';
import { itemBytes, itemBytesMax } from '../store/item-size.ts';
import { decodeCheckpoint, encodeCheckpoint } from '../store/records/items.ts';
import { type Bucket, checkpointPartOf, probeKey } from '../store/records/keys.ts';
import type { CheckpointEntry, CheckpointRecord } from '../store/records/shard-records.ts';
import { type Item, StoreUnavailable } from '../store/store.ts';
import { writeSurely } from '../table/write.ts';
import { epochCheck } from './commit/plan.ts';
import type { Holder } from './holder.ts';
import { phasedOf } from './probing/held-spec.ts';
import { saturatedRun } from './probing/step-plan.ts';
import type { HeldTarget } from './probing/worker.ts';
import { fencedPorts, type Run } from './run.ts';

export const checkpointIntervalMs = 60_000;

/**
 * Returns, by bucket, what a reader cannot know from the PROBE items of these targets. `endsAtMs`: wall time at which
 * the run ends; if it is given, probes off their phase may be pending too.
 */
export function checkpointEntries(
  targets: Iterable<HeldTarget>,
  endsAtMs?: number,
): ReadonlyMap<Bucket, CheckpointEntries> {
  const buckets = new Map<Bucket, Record<string, CheckpointEntry>>();
  for (const held of targets) {
    const entries = buckets.get(held.address.bucket) ?? {};
    buckets.set(held.address.bucket, entries);
    for (const { name, spec, verdict, pending, ticker, requestsSeen } of held.workers.values()) {
      const { record, state } = verdict;
      const resultRun = saturatedRun(state, spec.worker);
      const { lastResult } = state;
      const phased = () => phasedOf(held.target, name, spec.probe.periodSeconds);
      const isPending = pending || (endsAtMs !== undefined && isPendingAtHandover(ticker, endsAtMs, phased()));
      const isStored = resultRun === record.resultRun || lastResult === undefined;
      if (!isPending && isStored && requestsSeen === 0) continue;
      const { uid, streak } = record;
      entries[probeKey(held.address, name).sk] = {
        uid,
        streak,
        resultRun,
        ...(lastResult && { lastResult }),
        ...(isPending && { owed: true }),
        ...(requestsSeen > 0 && { requestsSeen }),
      };
    }
  }
  return buckets;
}

/** The text of each bucket's CHECKPOINT items, as stored. */
export type WrittenCheckpoints = Map<Bucket, readonly string[]>;

/**
 * Writes the items whose entries differ from `written`, which mirrors the store, and updates `written`. An item that
 * cannot be stored is logged and skipped: this costs run lengths, as a crash would, and is no reason to end a run that
 * beats.
 * @throws StoreUnavailable
 */
export async function writeCheckpoints(
  run: Run,
  entries: ReadonlyMap<Bucket, CheckpointEntries>,
  written: WrittenCheckpoints,
): Promise<void> {
  // A bucket whose last target has left has no entries, so its stored entries are cleared.
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

export type CheckpointEntries = CheckpointRecord['entries'];

/** Limit for the entries of one item. The rest is for its key and for attributes that a later release may add. */
const entriesBytesMax = (itemBytesMax * 3) / 4;

/** Splits the entries in the order of their keys, so that remaining entries stay in their item as far as possible. */
export function checkpointParts(entries: CheckpointEntries): readonly CheckpointEntries[] {
  const parts: Record<string, CheckpointEntry>[] = [];
  let leftBytes = 0;
  for (const [sk, entry] of Object.entries(entries).toSorted(byKey)) {
    // One byte more for the element of the map: see itemBytes.
    const bytes = itemBytes({ [sk]: entry }) + 1;
    if (parts.length === 0 || bytes > leftBytes) {
      parts.push({});
      leftBytes = entriesBytesMax;
    }
    const part = parts.at(-1);
    if (part) part[sk] = entry;
    leftBytes -= bytes;
  }
  return parts;
}

const byKey = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : one > other ? 1 : 0;

export type StoredCheckpoint = {
  readonly entries: CheckpointEntries;
  /** The text of each item's entries, indexed by the item's number. */
  readonly written: readonly string[];
};

/**
 * Decodes the CHECKPOINT items of one bucket. An unreadable item costs run lengths, as a crash would: a threshold may
 * be met later, but never wrongly.
 */
export function storedCheckpoint(items: readonly Item[]): StoredCheckpoint {
  const entries: Record<string, CheckpointEntry> = {};
  const written: string[] = [];
  for (const item of items) {
    const part = checkpointPartOf(item.sk);
    if (part === undefined) continue;
    const decoded = decodeCheckpoint(item);
    const own = decoded.kind === 'ok' ? decoded.record.entries : {};
    while (written.length < part) written.push('{}');
    written[part] = JSON.stringify(own);
    for (const [sk, entry] of Object.entries(own)) entries[sk] = later(entries[sk], entry);
  }
  return { entries, written };
}

/**
 * A run that ended between the writes of two items may have left an entry in both. Within a streak the run length only
 * grows, so the greater one is newer.
 */
function later(known: CheckpointEntry | undefined, entry: CheckpointEntry): CheckpointEntry {
  if (known === undefined || known.uid !== entry.uid || known.streak < entry.streak) return entry;
  return known.streak === entry.streak && known.resultRun < entry.resultRun ? entry : known;
}

export type Checkpointer = {
  /** Writes them each minute until the run ends. */
  keep(): Promise<void>;
  /**
   * `endsAtMs`: see `checkpointEntries`. Only this checkpoint names every probe that is pending for the next run, so no
   * other follows it.
   */
  writeLast(endsAtMs?: number): Promise<void>;
};

/**
 * Writes the checkpoints of the targets that this holder has loaded. An unreachable store is logged and costs only run
 * lengths.
 */
export function checkpointer(holder: Holder, stored: () => WrittenCheckpoints): Checkpointer {
  const { run } = holder;
  /** Writes are sequential: of two concurrent ones, the older might reach the store last. */
  let written: Promise<void> = Promise.resolve();
  let isOver = false;
  const write = async (endsAtMs?: number) => {
    try {
      await writeCheckpoints(run, checkpointEntries(holder.targets.values(), endsAtMs), stored());
    } catch (error) {
      // A missing checkpoint costs run lengths, as a crash would. It is no reason to end a run that beats.
      if (!(error instanceof StoreUnavailable)) throw error;
      run.ports.log.warn('checkpoints not written', { shard: run.message.shard, cause: error });
    }
  };
  const keep = async () => {
    while (!isOver && !run.ended()) {
      await sleep(run.ports.clock, checkpointIntervalMs, run.signal);
      if (isOver || !run.inForce()) continue;
      written = write();
      await written;
    }
  };
  const writeLast = async (endsAtMs?: number) => {
    isOver = true;
    await written;
    if (run.inForce()) await write(endsAtMs);
  };
  return { writeLast, keep };
}
