/**
 * Lets the bodies of a few requests be worked on at once. A parsed body takes several times the memory of its text, and
 * what lives until its request is answered outlives the cheap collections of garbage: many at once make long pauses.
 */
import type { ApiDeps } from '../../../shared/api/ports/deps.ts';
import type { Slices } from '../../../shared/lib/slices.ts';
import { WaitingRequests } from './waiting-requests.ts';

/** Enough for their writes to share a transaction. */
const atOnceMax = 8;

export class BodyRoom {
  readonly #turns: Pick<Slices, 'add'>;
  readonly #underWay = new Set<Request>();
  readonly #waiting = new WaitingRequests();

  constructor(turns: Pick<Slices, 'add'>) {
    this.#turns = turns;
  }

  readonly admit: NonNullable<ApiDeps['admit']> = async (request) => {
    if (this.#underWay.size < atOnceMax) this.#underWay.add(request);
    else await this.#waiting.wait(request);
  };

  /** Once the request is answered, whether it has been admitted or not. */
  leave(request: Request): void {
    if (this.#underWay.delete(request)) this.#turns.add(this.#admitNext);
  }

  readonly #admitNext = (): boolean => {
    const next = this.#underWay.size < atOnceMax ? this.#waiting.admitNext() : undefined;
    if (next) this.#underWay.add(next);
    return next !== undefined;
  };
}
