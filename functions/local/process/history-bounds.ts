/** Trims the event history of all targets in the background, little at a time. */
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Log } from '../../../shared/lib/log.ts';
import {
  type HistoryPlace,
  type HistoryTrim,
  historyStart,
  type TrimmedHistory,
} from '../../../shared/store/sqlite/history.ts';

/** About a millisecond. */
const part = { targetsMax: 20, eventsMax: 200 };
const partIntervalMs = 100;
/** From the end of a pass to the next one. */
const passIntervalMs = 60_000;

const gib = 2 ** 30;

/** How many events of a target are kept while the file has at most so many bytes. */
const keptEvents: readonly { readonly bytesMax: number; readonly keep: number }[] = [
  { bytesMax: gib, keep: 1_000 },
  { bytesMax: 2 * gib, keep: 100 },
  { bytesMax: Number.POSITIVE_INFINITY, keep: 20 },
];

export type HistoryBounds = {
  readonly clock: Clock;
  readonly log: Log;
  readonly trim: (from: HistoryPlace, options: HistoryTrim) => TrimmedHistory;
  /** Bytes in use, without those that are free for what comes. */
  readonly usedBytes: () => number;
};

/** Trims until the returned function is called. If the store is unavailable, the next pass tries again. */
export function boundHistory({ clock, log, trim, usedBytes }: HistoryBounds): () => void {
  let place = historyStart;
  let removed = 0;
  let cancel = clock.setTimer(passIntervalMs, step);
  function step() {
    cancel = clock.setTimer(hasMore() ? partIntervalMs : passIntervalMs, step);
  }
  function hasMore(): boolean {
    const next = trimmedPart();
    place = next ?? historyStart;
    if (next) return true;
    if (removed > 0) log.info('events removed: targets have more than are kept of each', { events: removed });
    removed = 0;
    return false;
  }
  function trimmedPart(): HistoryPlace | undefined {
    try {
      const bytes = usedBytes();
      const keep = keptEvents.find(({ bytesMax }) => bytes <= bytesMax)?.keep ?? 0;
      const trimmed = trim(place, { ...part, keep });
      removed += trimmed.removed;
      return trimmed.next;
    } catch (cause) {
      log.warn('event history not trimmed', { cause });
      return undefined;
    }
  }
  return () => cancel();
}
