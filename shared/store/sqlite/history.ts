/**
 * Keeps the event history in the file within bounds. Events expire after a while, but a target that flaps each second
 * writes gigabytes until then, so only its newest events are kept.
 */
import type { DatabaseSync } from 'node:sqlite';
import { eventPrefix, eventsPk, prefixEnd, prefixOf } from '../records/keys.ts';

/** Where the next part of a pass begins. */
export type HistoryPlace = { readonly pk: string; readonly sk: string };

export type HistoryTrim = {
  /** Newest events of each target that stay. */
  readonly keep: number;
  /** Targets that are looked at, and events that are removed, in one part. */
  readonly targetsMax: number;
  readonly eventsMax: number;
};

export type TrimmedHistory = {
  readonly removed: number;
  /** Absent: the pass is over. */
  readonly next?: HistoryPlace;
};

export const historyStart: HistoryPlace = { pk: eventsPk(''), sk: '' };
const historyEnd = eventsPk(prefixEnd);

/** Returns a function that does one part of a pass over the history of all targets. */
export function historyTrimmer(database: DatabaseSync) {
  const first = database.prepare(
    'SELECT pk, sk FROM items WHERE (pk, sk) >= (?, ?) AND pk < ? ORDER BY pk, sk LIMIT 1',
  );
  const ofTarget = 'FROM items WHERE pk = ? AND sk >= ? AND sk <= ? ORDER BY sk';
  const tooOld = database.prepare(`SELECT sk ${ofTarget} DESC LIMIT 1 OFFSET ? + 0`);
  const remove = database.prepare(`DELETE FROM items WHERE rowid IN (SELECT rowid ${ofTarget} ASC LIMIT ? + 0)`);
  const part = (from: HistoryPlace, { keep, targetsMax, eventsMax }: HistoryTrim): TrimmedHistory => {
    let place = from;
    let removed = 0;
    for (let targets = 0; targets < targetsMax; targets += 1) {
      const item = first.get(place.pk, place.sk, historyEnd);
      if (!item) return { removed };
      const [pk, sk] = [String(item.pk), String(item.sk)];
      // Every item of this partition is a target's.
      const prefix = prefixOf(sk) ?? sk;
      const events = eventPrefix({ prefix });
      const oldest = tooOld.get(pk, events, events + prefixEnd, keep);
      if (oldest) removed += Number(remove.run(pk, events, String(oldest.sk), eventsMax - removed).changes);
      // More of the same target may be left.
      if (removed >= eventsMax) return { removed, next: { pk, sk } };
      place = { pk, sk: prefix + prefixEnd };
    }
    return { removed, next: place };
  };
  // One commit, so that the disk is waited for once, and not at all if nothing is removed.
  return (from: HistoryPlace, options: HistoryTrim): TrimmedHistory => {
    database.exec('BEGIN');
    try {
      const trimmed = part(from, options);
      database.exec('COMMIT');
      return trimmed;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };
}
