/**
 * A binary min-heap of items ordered by due time. Each item carries its place, so one that is set again moves, and
 * nothing is allocated for it.
 */
export type HeapItem = {
  dueMs: number;
  /** Its index in the heap that it was last set in. Only the heap uses it. */
  heapPlace: number;
};

export class DueHeap<Item extends HeapItem> {
  readonly #items: Item[] = [];

  /** The earliest item, which stays. */
  peek(): Item | undefined {
    return this.#items[0];
  }

  /** Adds the item, or moves it if it is in the heap. */
  set(item: Item, dueMs: number): void {
    item.dueMs = dueMs;
    if (!this.#has(item)) this.#put(item, this.#items.length);
    this.#siftUp(item);
    this.#siftDown(item);
  }

  /** Has no effect on an item that is not in the heap. */
  delete(item: Item): void {
    if (!this.#has(item)) return;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#put(last, item.heapPlace);
    this.#siftUp(last);
    this.#siftDown(last);
  }

  /** An item may have been in another heap before, so its place alone says nothing. */
  #has(item: Item): boolean {
    return this.#items[item.heapPlace] === item;
  }

  #put(item: Item, place: number): void {
    this.#items[place] = item;
    item.heapPlace = place;
  }

  #siftUp(item: Item): void {
    for (;;) {
      const above = item.heapPlace === 0 ? undefined : this.#items[(item.heapPlace - 1) >> 1];
      if (above === undefined || above.dueMs <= item.dueMs) return;
      this.#swap(above, item);
    }
  }

  #siftDown(item: Item): void {
    for (;;) {
      const left = this.#items[2 * item.heapPlace + 1];
      const right = this.#items[2 * item.heapPlace + 2];
      const below = right !== undefined && left !== undefined && right.dueMs < left.dueMs ? right : left;
      if (below === undefined || below.dueMs >= item.dueMs) return;
      this.#swap(item, below);
    }
  }

  #swap(upper: Item, lower: Item): void {
    const { heapPlace } = upper;
    this.#put(upper, lower.heapPlace);
    this.#put(lower, heapPlace);
  }
}
