/**
 * The most recent events in order of arrival. A position is the number of events before it, so it stays valid while
 * older events are dropped.
 */

export type Buffered = { readonly id: string; readonly bytes: number };

export type EventBuffer<Event extends Buffered> = {
  add(event: Event): void;
  /** The position after all events. */
  end(): number;
  /** The id that leads back to a position that is still kept. */
  idBefore(place: number): string;
  /** The position after the event with this id; undefined: it is not kept, or never was. */
  placeAfter(id: string): number | undefined;
  /** undefined: no event has arrived there yet. `evicted`: the event is no longer kept. */
  at(place: number): Event | 'evicted' | undefined;
  findLast(isWanted: (event: Event) => boolean): Event | undefined;
};

export type BufferLimits = { readonly eventsMax: number; readonly bytesMax: number };

/**
 * `firstId`: the id that leads back to the position before the first event. Keeps the newest event, however large it
 * is.
 */
export function eventBuffer<Event extends Buffered>(
  { eventsMax, bytesMax }: BufferLimits,
  firstId: string,
): EventBuffer<Event> {
  const events: Event[] = [];
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
