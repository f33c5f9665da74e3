/**
 * Bounds the outbox of STATUS while the bus refuses events, perhaps for hours: an item that outgrew its store could not
 * be written any more, and the target would have no status. Restart requests are dropped last, and the newest of each
 * container stays. Pure.
 */
import type { OutboxEvent } from '../spec/records.ts';

/** Part of an item's 400 KB; status and restart requests need space too. */
export const outboxBytesMax = 128 * 1024;

/**
 * An event that was written so recently is published by its writer. Another sync that published it as well would repeat
 * it.
 */
export const writersOwnMs = 5_000;

/** If clocks differ by more than that, the event counts as old: its writer may have died. */
export const isWritersOwn = ({ timeMs }: OutboxEvent, nowMs: number): boolean =>
  Math.abs(nowMs - timeMs) < writersOwnMs;

/** A restart request that is due again has the same id and another time. */
export const entryName = ({ id, timeMs }: OutboxEvent): string => `${id}@${timeMs}`;

/** The same events, or fewer: the remaining events cover the dropped ones. */
export function boundedOutbox(events: readonly OutboxEvent[]): readonly OutboxEvent[] {
  if (events.length === 0) return events;
  const sizes = new Map(latestOfEach(events).map((event) => [event, bytesOf(event)]));
  let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const replace = (one: OutboxEvent, ...others: readonly OutboxEvent[]) => {
    bytes -= sizes.get(one) ?? 0;
    sizes.delete(one);
    for (const other of others) {
      sizes.set(other, bytesOf(other));
      bytes += bytesOf(other);
    }
  };
  const tooLarge = () => bytes > outboxBytesMax;
  mergeChanges(sizes, tooLarge, replace);
  for (const request of outdatedRequests([...sizes.keys()])) if (tooLarge()) replace(request);
  return inOrder([...sizes.keys()], events);
}

type Replace = (one: OutboxEvent, ...others: readonly OutboxEvent[]) => void;

/**
 * Merges the oldest change into the next one, which then covers both: from the status before the first to the status
 * after the second.
 */
function mergeChanges(kept: ReadonlyMap<OutboxEvent, number>, tooLarge: () => boolean, replace: Replace): void {
  let [older, ...later] = [...kept.keys()].filter((event) => event.detailType === 'Target Status Changed');
  for (const newer of later) {
    if (!older || !tooLarge()) return;
    const merged = { ...newer, detail: { ...newer.detail, oldStatus: older.detail.oldStatus } };
    replace(older);
    replace(newer, merged);
    older = merged;
  }
}

/** Requests of a container whose ID has changed and which has failed again: those requests are answered. */
function outdatedRequests(events: readonly OutboxEvent[]): readonly OutboxEvent[] {
  const requests = events.filter((event) => event.detailType === 'Container Restart Requested');
  const newest = new Map(requests.map((request) => [request.detail.container, request]));
  return requests.filter((request) => newest.get(request.detail.container) !== request);
}

/** A repeated restart request replaces the previous attempt: publishing both would request two restarts at once. */
const latestOfEach = (events: readonly OutboxEvent[]): readonly OutboxEvent[] => [
  ...new Map(events.map((event) => [subjectOf(event), event])).values(),
];

function subjectOf(event: OutboxEvent): string {
  if (event.detailType !== 'Container Restart Requested') return event.id;
  const { container, containerID } = event.detail;
  return JSON.stringify([container, containerID]);
}

/** In their original order; a merged event takes the place of its newest part. */
function inOrder(kept: readonly OutboxEvent[], events: readonly OutboxEvent[]): readonly OutboxEvent[] {
  const places = new Map(events.map(({ id }, place) => [id, place]));
  const placeOf = ({ id }: OutboxEvent) => places.get(id) ?? 0;
  return kept.toSorted((one, other) => placeOf(one) - placeOf(other));
}

const encoder = new TextEncoder();
const bytesOf = (event: OutboxEvent): number => encoder.encode(JSON.stringify(event)).length;
