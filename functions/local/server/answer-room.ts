/**
 * Bounds the memory of answers: those that are being made, and those that their clients do not read. A request waits
 * for room before anything is done for it; meanwhile the client that has read nothing for longest is disconnected.
 */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type Clock, systemClock } from '../../../shared/lib/clock.ts';
import type { Slices } from '../../../shared/lib/slices.ts';
import type { ClientStream } from './client-stream.ts';

/** The whole answer is made for HEAD, too. Those to requests with a body are bounded by it. */
const methods: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);
/** Answers that are being made at once. A page of a list has at most 3 MB, and a sorted one is made of all targets. */
const makingMax = 4;
/** Of all clients together. */
const unreadBytesMax = 16 * 1024 * 1024;
/** While others wait for room, a client has so long to read its answer. */
const unreadMsMax = 3_000;
const lookMs = 500;

export type AnswerRoomPorts = {
  readonly turns: Pick<Slices, 'add'>;
  /** Since when each of the clients has not read. */
  readonly unread: ReadonlyMap<ClientStream, number>;
  readonly clock?: Pick<Clock, 'monotonicMs' | 'setTimer'>;
};

/** Whether the answer takes room of its own. */
export const takesRoom = ({ method }: Pick<IncomingMessage, 'method'>): boolean => methods.has(method);

/** Resolves when the answer has been sent, if not before: it never rejects. */
type Begin = () => Promise<void>;

export class AnswerRoom {
  readonly #turns: Pick<Slices, 'add'>;
  readonly #unread: ReadonlyMap<ClientStream, number>;
  readonly #clock: Pick<Clock, 'monotonicMs' | 'setTimer'>;
  /** The first has waited longest. One whose client goes leaves at once: the connections do not bound those. */
  readonly #waiting = new Map<object, Begin>();
  readonly #making = new Set<object>();
  #isLooking = false;

  constructor({ turns, unread, clock = systemClock }: AnswerRoomPorts) {
    this.#turns = turns;
    this.#unread = unread;
    this.#clock = clock;
  }

  /** Calls `begin` once there is room, unless the connection closes before. */
  enter(response: Pick<EventEmitter, 'once'>, begin: Begin): void {
    if (this.#waiting.size === 0 && this.#hasRoom()) this.#make(response, begin);
    else {
      this.#waiting.set(response, begin);
      response.once('close', () => this.#waiting.delete(response));
      this.#lookLater();
    }
  }

  /** The answer is no longer made: it has been written, or is a stream that is written as its client reads. */
  made(response: object): void {
    // In a later piece of work, when the answer has been written and counts.
    if (this.#making.delete(response)) this.#turns.add(this.#admit);
  }

  #make(response: object, begin: Begin): void {
    this.#making.add(response);
    void begin().finally(() => this.made(response));
  }

  #hasRoom(): boolean {
    return this.#making.size < makingMax && this.#unreadBytes() <= unreadBytesMax;
  }

  readonly #admit = (): boolean => {
    const [next] = this.#waiting;
    if (!next || !this.#hasRoom()) return false;
    this.#waiting.delete(next[0]);
    this.#make(...next);
    return this.#waiting.size > 0;
  };

  /** The client that has read nothing for longest, of those that had the time for it. */
  readonly #disconnect = (): boolean => {
    const [first] = this.#unread;
    if (!first || this.#unreadBytes() <= unreadBytesMax) return false;
    const [client, sinceMs] = first;
    if (this.#clock.monotonicMs() - sinceMs < unreadMsMax) return false;
    client.destroy();
    this.#turns.add(this.#admit);
    return true;
  };

  #lookLater(): void {
    if (this.#isLooking || this.#waiting.size === 0) return;
    this.#isLooking = true;
    this.#clock.setTimer(lookMs, () => {
      this.#isLooking = false;
      this.#turns.add(this.#disconnect);
      this.#turns.add(this.#admit);
      this.#lookLater();
    });
  }

  #unreadBytes(): number {
    let bytes = 0;
    for (const client of this.#unread.keys()) bytes += client.writableLength;
    return bytes;
  }
}
