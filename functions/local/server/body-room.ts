/**
 * Lets the bodies of a few requests be worked on at once. A parsed body takes several times the memory of its text, and
 * what lives until its request is answered outlives the cheap collections of garbage: many at once make long pauses.
 */
import type { ApiDeps } from '../../../shared/api/ports/deps.ts';
import type { Slices } from '../../../shared/lib/slices.ts';
import { Room } from './room.ts';

/** Enough for their writes to share a transaction. */
const atOnceMax = 8;

export class BodyRoom {
  readonly #turns: Pick<Slices, 'add'>;
  readonly #room = new Room<Request>(atOnceMax);

  constructor(turns: Pick<Slices, 'add'>) {
    this.#turns = turns;
  }

  readonly admit: NonNullable<ApiDeps['admit']> = async (request) => {
    await this.#room.enter(request, request.signal);
  };

  /** Once the request is answered, whether it has been admitted or not. */
  leave(request: Request): void {
    if (this.#room.leave(request)) this.#turns.add(() => this.#room.admitNext());
  }
}
