/**
 * An unordered collection of objects that come and go all the time. A `Set` or `Map` would do, were it not for V8: each
 * of their tables refers to the next one, so an old table that the collector has not reached yet keeps every younger
 * one alive, and with it all that was ever added. At a thousand additions a second that is most of the garbage.
 */

/** Each object is in one bag at most, and keeps its place there. */
export type BagItem = { bagPlace: number };

/** The `bagPlace` of an object that is in no bag. */
export const inNoBag = -1;

export class Bag<Item extends BagItem> {
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    item.bagPlace = this.#items.push(item) - 1;
  }

  /** Returns false if the item is not in the bag. */
  delete(item: Item): boolean {
    const place = item.bagPlace;
    if (place === inNoBag) return false;
    const last = this.#items.pop();
    if (last !== undefined && last !== item) {
      last.bagPlace = place;
      this.#items[place] = last;
    }
    item.bagPlace = inNoBag;
    return true;
  }

  /** The items of this moment, in no particular order. */
  items(): readonly Item[] {
    return [...this.#items];
  }
}
