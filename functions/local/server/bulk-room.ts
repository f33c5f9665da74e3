/**
 * Lets a few requests with large bodies or long answers be under way at once, so that neither what they send nor what
 * they do not read adds up. The others wait unread; one that has waited too long is refused.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestBodyBytesMax } from '../../../shared/api/http/body.ts';
import { type Problem, problem } from '../../../shared/api/http/problem.ts';
import { type Clock, systemClock } from '../../../shared/lib/clock.ts';
import type { Slices } from '../../../shared/lib/slices.ts';
import type { ClientStream } from './client-stream.ts';
import { lookWhileWaiting, Room, unreadMsMax } from './room.ts';

/** Each takes some 10 MB at the most. */
const atOnceMax = 4;
const waitMsMax = 10_000;
/** An answer of lines has one for each line of the body, and may be longer. */
const linesType = 'application/x-ndjson';

export const busy: Problem = {
  ...problem(503, 'busy', `${atOnceMax} requests with large bodies are under way: send this one again later.`),
  headers: { 'retry-after': '5', connection: 'close' },
};

/** Whether the body may be larger than that of one target, or is answered while it is read. */
export function isBulk({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { 'content-length': length, 'transfer-encoding': coding, 'content-type': type = '' } = headers;
  return Number(length) > requestBodyBytesMax || coding !== undefined || type.toLowerCase().includes(linesType);
}

export type BulkPorts = {
  /** In which requests begin and are refused: many that came together have waited too long together. */
  readonly turns: Pick<Slices, 'add'>;
  /** Since when each of the clients has not read. */
  readonly unread: ReadonlyMap<ClientStream, number>;
  readonly clock?: Pick<Clock, 'monotonicMs' | 'setTimer'>;
};

export type BulkRequest = {
  readonly client: ClientStream;
  readonly response: ServerResponse;
  /** One of the two is called, unless the connection closes before. */
  readonly begin: () => void;
  readonly refuse: () => void;
};

type Guest = { readonly request: BulkRequest; readonly sinceMs: number };

export class BulkRoom {
  readonly #turns: Pick<Slices, 'add'>;
  readonly #unread: ReadonlyMap<ClientStream, number>;
  readonly #clock: Pick<Clock, 'monotonicMs' | 'setTimer'>;
  readonly #room = new Room<Guest>(atOnceMax);
  readonly #lookLater: () => void;

  constructor({ turns, unread, clock = systemClock }: BulkPorts) {
    this.#turns = turns;
    this.#unread = unread;
    this.#clock = clock;
    this.#lookLater = lookWhileWaiting(this.#room, clock, () => this.#look());
  }

  /** A place is free again once the answer has been sent. */
  enter(request: BulkRequest): void {
    const guest = { request, sinceMs: this.#clock.monotonicMs() };
    request.response.once('close', () => {
      this.#room.stopWaiting(guest);
      this.#room.leave(guest);
      this.#admit();
    });
    this.#room.wait(guest, () =>
      this.#turns.add(() => {
        request.begin();
        return false;
      }),
    );
    this.#admit();
    this.#lookLater();
  }

  #admit(): void {
    while (this.#room.admitNext());
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const { request } of this.#room.inside) {
      const sinceMs = this.#unread.get(request.client);
      if (sinceMs !== undefined && nowMs - sinceMs >= unreadMsMax) request.client.destroy();
    }
    this.#turns.add(this.#refuseNext);
  }

  /** The rest of each body is read and dropped, which takes milliseconds where its chunks are small. */
  readonly #refuseNext = (): boolean => {
    const { next } = this.#room;
    if (!next || this.#clock.monotonicMs() - next.sinceMs < waitMsMax) return false;
    this.#room.stopWaiting(next);
    next.request.refuse();
    return true;
  };
}
