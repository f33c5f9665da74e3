/** What a service that opens and closes incidents shows after what it was sent, as PagerDuty does: by batch. */
import type { Arrival } from './services.ts';

export class Shown {
  readonly #open = new Map<string, Set<string>>();
  readonly #ids = new Set<string>();
  /** What no order of sending excuses. */
  readonly faults: string[] = [];

  /** An arrival with the id of an earlier one changes nothing. */
  take({ id, kind, alert, batch, isClosing, incidents }: Arrival): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    const isEnd = kind === 'resolved';
    if (isEnd && !this.#open.has(batch)) this.faults.push(`${id}: an end without a beginning`);
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
