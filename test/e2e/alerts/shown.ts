/** What a service that opens and closes incidents shows after what it was sent, as PagerDuty does: by batch. */
import type { Arrival } from './services.ts';

export class Shown {
  readonly #open = new Map<string, Set<string>>();
  readonly #ids = new Set<string>();
  readonly #endedUnkept = new Set<string>();
  /** What no order of sending excuses. */
  readonly faults: string[] = [];

  /**
   * An arrival with the id of an earlier one changes nothing. `isUnkept`: the disk was full, so the process could not
   * keep what it sent, and the next one may end the same batch again.
   */
  take({ id, kind, alert, batch, isClosing, incidents }: Arrival, isUnkept: boolean): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    const isEnd = kind === 'resolved';
    const isOpen = this.#open.has(batch) || this.#endedUnkept.has(batch);
    if (isEnd && !isOpen) this.faults.push(`${id}: an end without a beginning`);
    if (isEnd && isUnkept) this.#endedUnkept.add(batch);
    const open = this.#open.get(batch) ?? new Set();
    this.#open.set(batch, open);
    for (const incident of incidents) {
      if (isEnd) open.delete(`${alert}: ${incident}`);
      else open.add(`${alert}: ${incident}`);
    }
    if (!isClosing) return;
    for (const left of open) this.faults.push(`${id}: closes what has not ended, ${left}`);
    this.#open.delete(batch);
  }

  /** `ALERT: CAUSE NAME` of what is open; twice if it is open twice. */
  incidents(): readonly string[] {
    return [...this.#open.values()].flatMap((open) => [...open]).sort();
  }
}
