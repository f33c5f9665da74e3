/**
 * Bounds the memory of answers: those that are being made, and those that their clients do not read. A request waits
 * for room before anything is done for it; meanwhile the client that has read nothing for longest is disconnected.
 */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type Clock, systemClock } from '../../../shared/lib/clock.ts';
import type { Slices } from '../../../shared/lib/slices.ts';
import type { ClientStream } from './client-stream.ts';
import { lookWhileWaiting, Room, unreadMsMax } from './room.ts';

/** The whole answer is made for HEAD, too. Those to requests with a body are bounded by it. */
const methods: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);
/** Answers that are being made at once. A page of a list has at most 3 MB, and a sorted one is made of all targets. */
const makingMax = 4;
/** What clients have not read, of all of them together. */
const unreadBytesMax = 16 * 1024 * 1024;

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
  /** Those inside are being made. */
  readonly #room = new Room<object>(makingMax);
  readonly #lookLater: () => void;

  constructor({ turns, unread, clock = systemClock }: AnswerRoomPorts) {
    this.#turns = turns;
    this.#unread = unread;
    this.#clock = clock;
    this.#lookLater = lookWhileWaiting(this.#room, clock, () => {
      turns.add(this.#disconnect);
      turns.add(this.#admit);
    });
  }

  /** Calls `begin` once there is room, unless the connection closes before. */
  enter(response: Pick<EventEmitter, 'once'>, begin: Begin): void {
    const make = () => void begin().finally(() => this.made(response));
    if (this.#room.next === undefined && !this.#isUnreadFull() && this.#room.take(response)) make();
    else {
      this.#room.wait(response, make);
      response.once('close', () => this.#room.stopWaiting(response));
      this.#lookLater();
    }
  }

  /** The answer is no longer made: it has been written, or is a stream that is written as its client reads. */
  made(response: object): void {
    // In a later piece of work, when the answer has been written and counts.
    if (this.#room.leave(response)) this.#turns.add(this.#admit);
  }

  readonly #admit = (): boolean => !this.#isUnreadFull() && this.#room.admitNext() && this.#room.next !== undefined;

  /** The client that has read nothing for longest, of those that had the time for it. */
  readonly #disconnect = (): boolean => {
    const [first] = this.#unread;
    if (!first || !this.#isUnreadFull()) return false;
    const [client, sinceMs] = first;
    if (this.#clock.monotonicMs() - sinceMs < unreadMsMax) return false;
    client.destroy();
    this.#turns.add(this.#admit);
    return true;
  };

  #isUnreadFull(): boolean {
    let bytes = 0;
    for (const client of this.#unread.keys()) bytes += client.writableLength;
    return bytes > unreadBytesMax;
  }
}
