/**
 * The entries of a bucket as CHECKPOINT items: one, or several where they are too large for one. The first keeps the bucket's own key, the
 * others follow it by number.
 */
import { itemBytes, itemBytesMax } from '../store/item-size.ts';
import { type CheckpointEntry, type CheckpointRecord, decodeCheckpoint } from '../store/items.ts';
import { checkpointPartOf } from '../store/keys.ts';
import type { Item } from '../store/store.ts';

export type CheckpointEntries = CheckpointRecord['entries'];

/** Of the entries of one item: what is left is for its key and for what a later release may add to it. */
const entriesBytesMax = (itemBytesMax * 3) / 4;

/** In the order of their keys, so that entries that stay keep their item as far as possible. */
export function checkpointParts(entries: CheckpointEntries): readonly CheckpointEntries[] {
  const parts: Record<string, CheckpointEntry>[] = [];
  let leftBytes = 0;
  for (const [sk, entry] of Object.entries(entries).toSorted(byKey)) {
    // One more for the element: see itemBytes.
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
  /** The text of each item's entries, by its number. */
  readonly written: readonly string[];
};

/**
 * The checkpoint of the bucket whose items these are. An item that cannot be read costs run lengths, as a crash would: later detection,
 * never a false trip.
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

/** A run that ended between two items may have left an entry in both. Within a streak the run only grows. */
function later(known: CheckpointEntry | undefined, entry: CheckpointEntry): CheckpointEntry {
  if (known === undefined || known.uid !== entry.uid || known.streak < entry.streak) return entry;
  return known.streak === entry.streak && known.resultRun < entry.resultRun ? entry : known;
}
