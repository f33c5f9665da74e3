/**
 * Room for a few at a time. The others wait in the order in which they came. One whose client goes stops waiting at
 * once: clients that come and go are not bounded by the number of connections, so neither would be what they leave
 * behind.
 */
import type { Clock } from '../../../shared/lib/clock.ts';

export class Room<Guest extends object> {
  readonly #placesMax: number;
  readonly #inside = new Set<Guest>();
  /** The first has waited longest. */
  readonly #waiting = new Map<Guest, () => void>();

  constructor(placesMax: number) {
    this.#placesMax = placesMax;
  }

  get inside(): ReadonlySet<Guest> {
    return this.#inside;
  }

  get hasPlace(): boolean {
    return this.#inside.size < this.#placesMax;
  }

  /** The one that has waited longest. */
  get next(): Guest | undefined {
    return this.#waiting.keys().next().value;
  }

  /** Takes a place. false: there is none. */
  take(guest: Guest): boolean {
    if (!this.hasPlace) return false;
    this.#inside.add(guest);
    return true;
  }

  /** Calls `begin` when the guest is admitted. */
  wait(guest: Guest, begin: () => void): void {
    this.#waiting.set(guest, begin);
  }

  /** Takes a place, or waits for one. Resolves with false if `signal` is aborted before. */
  enter(guest: Guest, signal?: AbortSignal): Promise<boolean> {
    if (this.take(guest)) return Promise.resolve(true);
    if (signal?.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const gone = () => {
        this.stopWaiting(guest);
        resolve(false);
      };
      signal?.addEventListener('abort', gone, { once: true });
      this.wait(guest, () => {
        signal?.removeEventListener('abort', gone);
        resolve(true);
      });
    });
  }

  stopWaiting(guest: Guest): void {
    this.#waiting.delete(guest);
  }

  /** Whether the guest had a place. It stays free until the next guest is admitted. */
  leave(guest: Guest): boolean {
    return this.#inside.delete(guest);
  }

  /** Gives a place, if there is one, to the guest that has waited longest. Returns whether it did. */
  admitNext(): boolean {
    const [first] = this.#waiting;
    if (!first || !this.hasPlace) return false;
    const [guest, begin] = first;
    this.#waiting.delete(guest);
    this.#inside.add(guest);
    begin();
    return true;
  }
}

/** While others wait, a client has this long to read its answer. */
export const unreadMsMax = 3_000;
const lookMs = 500;

/** Returns a function that starts to look every half second, while guests wait in the room. */
export function lookWhileWaiting(
  room: Pick<Room<object>, 'next'>,
  clock: Pick<Clock, 'setTimer'>,
  look: () => void,
): () => void {
  let isLooking = false;
  return function lookLater() {
    if (isLooking || room.next === undefined) return;
    isLooking = true;
    clock.setTimer(lookMs, () => {
      isLooking = false;
      look();
      lookLater();
    });
  };
}
