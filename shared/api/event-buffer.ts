/** The last so many events in the order of their arrival. A place is the number of events before it, so it stays valid while older ones go. */

export type Buffered = { readonly id: string; readonly bytes: number };

export type EventBuffer<Event extends Buffered> = {
  add(event: Event): void;
  /** The place behind all events. */
  end(): number;
  /** The id that leads back to a place that is still kept. */
  idBefore(place: number): string;
  /** The place behind the event of this id; undefined: it is not kept, or was never there. */
  placeAfter(id: string): number | undefined;
  /** undefined: nothing has arrived there yet. `evicted`: what was there is no longer kept. */
  at(place: number): Event | 'evicted' | undefined;
  findLast(isWanted: (event: Event) => boolean): Event | undefined;
};

export type BufferLimits = { readonly eventsMax: number; readonly bytesMax: number };

/** `firstId`: what leads back to the place before the first event. Keeps the newest event, however large it is. */
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
