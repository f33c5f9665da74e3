/**
 * A min-heap of items ordered by due time. Each item carries its place, so one that is set again moves, and nothing is
 * allocated for it. The due times stand apart from the items and each node has four children, so that a move touches
 * few items: between two turns of an event loop most of them have left the processor's caches.
 */
export type HeapItem = {
  dueMs: number;
  /** Its index in the heap that it was last set in. Only the heap uses it. */
  heapPlace: number;
};

const childrenMax = 4;
const firstCapacity = 16;

export class DueHeap<Item extends HeapItem> {
  readonly #items: Item[] = [];
  /** The due time of each item, by its place. */
  #dues = new Float64Array(firstCapacity);

  /** The earliest item, which stays. */
  peek(): Item | undefined {
    return this.#items[0];
  }

  /** Adds the item, or moves it if it is in the heap. */
  set(item: Item, dueMs: number): void {
    item.dueMs = dueMs;
    this.#place(item, dueMs, this.#has(item) ? item.heapPlace : this.#added(item));
  }

  /** Has no effect on an item that is not in the heap. */
  delete(item: Item): void {
    if (!this.#has(item)) return;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#place(last, last.dueMs, item.heapPlace);
  }

  /** An item may have been in another heap before, so its place alone says nothing. */
  #has(item: Item): boolean {
    return this.#items[item.heapPlace] === item;
  }

  #added(item: Item): number {
    const place = this.#items.push(item) - 1;
    if (place < this.#dues.length) return place;
    const wider = new Float64Array(2 * this.#dues.length);
    wider.set(this.#dues);
    this.#dues = wider;
    return place;
  }

  /** Puts the item where it belongs, and moves those between there and `from`, whose item has gone. */
  #place(item: Item, dueMs: number, from: number): void {
    const up = this.#raised(dueMs, from);
    this.#put(item, dueMs, up === from ? this.#lowered(dueMs, from) : up);
  }

  /** Moves later items above `from` down, and returns the place that this makes free. */
  #raised(dueMs: number, from: number): number {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 2;
      if (this.#dueAt(above) <= dueMs) break;
      this.#move(above, place);
      place = above;
    }
    return place;
  }

  /** Moves earlier items below `from` up, and returns the place that this makes free. */
  #lowered(dueMs: number, from: number): number {
    let place = from;
    for (;;) {
      const below = this.#earliestBelow(place);
      if (below === undefined || this.#dueAt(below) >= dueMs) return place;
      this.#move(below, place);
      place = below;
    }
  }

  #earliestBelow(place: number): number | undefined {
    const first = childrenMax * place + 1;
    const end = Math.min(first + childrenMax, this.#items.length);
    if (first >= end) return undefined;
    let earliest = first;
    for (let at = first + 1; at < end; at += 1) if (this.#dueAt(at) < this.#dueAt(earliest)) earliest = at;
    return earliest;
  }

  #dueAt(place: number): number {
    return this.#dues[place] as number;
  }

  #move(from: number, to: number): void {
    this.#put(this.#items[from] as Item, this.#dueAt(from), to);
  }

  #put(item: Item, dueMs: number, place: number): void {
    this.#items[place] = item;
    this.#dues[place] = dueMs;
    item.heapPlace = place;
  }
}
