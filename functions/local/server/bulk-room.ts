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

/** Each takes some 10 MB at the most. */
const atOnceMax = 4;
const waitMsMax = 10_000;
/** While others wait, a client has so long to read its answer. */
const unreadMsMax = 3_000;
const lookMs = 500;
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

type Waiting = { readonly request: BulkRequest; readonly sinceMs: number };

export class BulkRoom {
  readonly #turns: Pick<Slices, 'add'>;
  readonly #unread: ReadonlyMap<ClientStream, number>;
  readonly #clock: Pick<Clock, 'monotonicMs' | 'setTimer'>;
  /** The first has waited longest. */
  readonly #waiting = new Map<ServerResponse, Waiting>();
  readonly #underWay = new Set<BulkRequest>();
  #isLooking = false;

  constructor({ turns, unread, clock = systemClock }: BulkPorts) {
    this.#turns = turns;
    this.#unread = unread;
    this.#clock = clock;
  }

  /** A place is free again once the answer has been sent. */
  enter(request: BulkRequest): void {
    const { response } = request;
    response.once('close', () => {
      this.#waiting.delete(response);
      this.#underWay.delete(request);
      this.#admit();
    });
    this.#waiting.set(response, { request, sinceMs: this.#clock.monotonicMs() });
    this.#admit();
    this.#lookLater();
  }

  #admit(): void {
    for (const [response, { request }] of this.#waiting) {
      if (this.#underWay.size >= atOnceMax) return;
      this.#waiting.delete(response);
      this.#underWay.add(request);
      this.#turns.add(() => {
        request.begin();
        return false;
      });
    }
  }

  #lookLater(): void {
    if (this.#isLooking || this.#waiting.size === 0) return;
    this.#isLooking = true;
    this.#clock.setTimer(lookMs, () => {
      this.#isLooking = false;
      this.#look();
      this.#lookLater();
    });
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const { client } of this.#underWay) {
      const sinceMs = this.#unread.get(client);
      if (sinceMs !== undefined && nowMs - sinceMs >= unreadMsMax) client.destroy();
    }
    this.#turns.add(this.#refuseNext);
  }

  /** The rest of each body is read and dropped, which takes milliseconds where its chunks are small. */
  readonly #refuseNext = (): boolean => {
    const [first] = this.#waiting;
    if (!first || this.#clock.monotonicMs() - first[1].sinceMs < waitMsMax) return false;
    this.#waiting.delete(first[0]);
    first[1].request.refuse();
    return true;
  };
}
