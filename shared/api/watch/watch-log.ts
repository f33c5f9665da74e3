/**
 * The last events of the bus, for all watching clients: each reads at its pace and returns to its position by the id of
 * the last event it has seen. The table cannot serve that purpose: its EVENT items are each target's history, with
 * other ids and no common order.
 */
import type { EventEnvelope } from '../../bus/bus.ts';
import { decodeTarget } from '../../store/records/items.ts';
import { targetAddress, targetKey } from '../../store/records/keys.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { Labels } from '../lists/label-selector.ts';
import type { ApiDeps, WatchSource } from '../ports/deps.ts';

export type WatchedTarget = { readonly namespace: string; readonly name: string; readonly uid: string };

export type LoggedEvent = {
  /** The id that clients receive and send back: printable ASCII. */
  readonly id: string;
  readonly type: EventEnvelope['detail-type'];
  /** The envelope in JSON. */
  readonly data: string;
  /** Absent: the event does not concern a single target. */
  readonly target?: WatchedTarget;
  /** The target's labels when the event arrived; absent: they could not be read. */
  readonly labels?: Labels;
  /** Size of data and labels. */
  readonly bytes: number;
};

export type WatchLog = Omit<EventBuffer, 'add' | 'findLast'> & {
  /** Calls back after each event that arrives. The returned function ends that. */
  onArrival(arrived: () => void): () => void;
};

/** Holds a change of a few hundred targets at once, for clients that reconnect within seconds. */
const eventsMax = 2_000;
const bytesMax = 4 * 1024 * 1024;

/** Listens from now on, as long as the process lives. */
export function watchLog(source: WatchSource, deps: ApiDeps): WatchLog {
  const buffer = eventBuffer(deps.random.uuid());
  const listeners = new Set<() => void>();
  let arrivals = Promise.resolve();
  const take = async (envelope: EventEnvelope) => {
    buffer.add(await loggedEvent(envelope, buffer, deps));
    for (const arrived of listeners) arrived();
  };
  // One after the other, so that reading labels does not change the order.
  source((envelope) => {
    const arrival = arrivals.then(() => take(envelope));
    arrivals = arrival.catch(() => undefined);
    return arrival;
  });
  return {
    ...buffer,
    onArrival: (arrived) => {
      listeners.add(arrived);
      return () => void listeners.delete(arrived);
    },
  };
}

/**
 * An id may contain text of a client, such as a line break in a container's id, which must not end its line of the
 * stream.
 */
const eventIdText = (id: string): string => encodeURI(id.toWellFormed());

async function loggedEvent(envelope: EventEnvelope, buffer: EventBuffer, deps: ApiDeps): Promise<LoggedEvent> {
  const { detail } = envelope;
  const data = JSON.stringify(envelope);
  const event = { id: eventIdText(envelope.id), type: envelope['detail-type'], data };
  if (!('target' in detail)) return { ...event, bytes: Buffer.byteLength(data) };
  const { target } = detail;
  // A deleted target has the labels of its last event.
  const before = () => buffer.findLast((each) => each.labels !== undefined && each.target?.uid === target.uid)?.labels;
  const labels = (await labelsOf(target, deps)) ?? before();
  const bytes = Buffer.byteLength(
    data +
      Object.entries(labels ?? {})
        .flat()
        .join(''),
  );
  return { ...event, target, ...(labels && { labels }), bytes };
}

async function labelsOf({ namespace, name, uid }: WatchedTarget, deps: ApiDeps): Promise<Labels | undefined> {
  try {
    const item = await deps.store.get(targetKey(targetAddress(namespace, name)));
    const decoded = item && decodeTarget(item);
    if (decoded?.kind === 'poison') deps.onPoison?.(decoded);
    return decoded?.kind === 'ok' && decoded.record.uid === uid ? decoded.record.labels : undefined;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    deps.log.warn('labels of a target not read for those who watch', { namespace, name, cause: error.message });
    return undefined;
  }
}

/**
 * The most recent events in order of arrival. A position is the number of events before it, so it stays valid while
 * older events are dropped.
 */
type EventBuffer = {
  add(event: LoggedEvent): void;
  /** The position after all events. */
  end(): number;
  /** The id that leads back to a position that is still kept. */
  idBefore(place: number): string;
  /** The position after the event with this id; undefined: it is not kept, or never was. */
  placeAfter(id: string): number | undefined;
  /** undefined: no event has arrived there yet. `evicted`: the event is no longer kept. */
  at(place: number): LoggedEvent | 'evicted' | undefined;
  findLast(isWanted: (event: LoggedEvent) => boolean): LoggedEvent | undefined;
};

/**
 * Keeps the newest event, however large it is.
 * @param firstId the id that leads back to the position before the first event
 */
function eventBuffer(firstId: string): EventBuffer {
  const events: LoggedEvent[] = [];
  let evicted = 0;
  let bytes = 0;
  let idOfLastEvicted = firstId;
  const evict = () => {
    const [first] = events.splice(0, 1);
    evicted += 1;
    bytes -= first?.bytes ?? 0;
    idOfLastEvicted = first?.id ?? idOfLastEvicted;
  };
  return {
    add: (event) => {
      events.push(event);
      bytes += event.bytes;
      while (events.length > 1 && (events.length > eventsMax || bytes > bytesMax)) evict();
    },
    end: () => evicted + events.length,
    idBefore: (place) => events[place - evicted - 1]?.id ?? idOfLastEvicted,
    placeAfter: (id) => {
      if (id === idOfLastEvicted) return evicted;
      const found = events.findIndex((event) => event.id === id);
      return found < 0 ? undefined : evicted + found + 1;
    },
    at: (place) => (place < evicted ? 'evicted' : events[place - evicted]),
    findLast: (isWanted) => events.findLast(isWanted),
  };
}
