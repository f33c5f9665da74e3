/**
 * Bounds the memory of answers: those that are being made, and those that their clients do not read. A request waits
 * for room before anything is done for it; meanwhile the client that has read nothing for longest is disconnected.
 */
import { type Clock, systemClock } from '../../shared/lib/clock.ts';
import type { Slices } from '../../shared/lib/slices.ts';
import type { ClientStream } from './client-stream.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

/** The whole answer is made for HEAD, too. Those to requests with a body are bounded by it. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD']);
/** Answers that are being made at once. A page of a list has at most 3 MB. */
const makingMax = 8;
/** Of all clients together. */
const unreadBytesMax = 16 * 1024 * 1024;
/** While others wait for room, a client has so long to read its answer. */
const unreadMsMax = 3_000;
const lookMs = 500;

export type AnswerRoomPorts = {
  readonly turns: Slices;
  /** Since when each of the clients has not read. */
  readonly unread: ReadonlyMap<ClientStream, number>;
  readonly clock?: Pick<Clock, 'monotonicMs' | 'setTimer'>;
};

export function withAnswerRoom(fetch: Fetch, { turns, unread, clock = systemClock }: AnswerRoomPorts): Fetch {
  const waiting: (() => void)[] = [];
  let making = 0;
  let isLooking = false;
  const hasRoom = () => making < makingMax && unreadBytes(unread) <= unreadBytesMax;
  const admit = (): boolean => {
    const next = hasRoom() ? waiting.shift() : undefined;
    if (!next) return false;
    making += 1;
    next();
    return waiting.length > 0;
  };
  /** The client that has read nothing for longest, of those that had the time for it. */
  const disconnect = (): boolean => {
    const [first] = unread;
    if (!first || unreadBytes(unread) <= unreadBytesMax) return false;
    const [client, sinceMs] = first;
    if (clock.monotonicMs() - sinceMs < unreadMsMax) return false;
    client.destroy();
    turns.add(admit);
    return true;
  };
  const look = () => {
    isLooking = waiting.length > 0;
    if (!isLooking) return;
    turns.add(disconnect);
    turns.add(admit);
    clock.setTimer(lookMs, look);
  };
  const wait = (): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (isLooking) return;
      isLooking = true;
      clock.setTimer(lookMs, look);
    });
  return async (request) => {
    if (!methods.has(request.method)) return fetch(request);
    let isGone = false;
    if (waiting.length === 0 && hasRoom()) making += 1;
    else {
      await wait();
      isGone = request.signal.aborted;
    }
    try {
      return isGone ? new Response() : await fetch(request);
    } finally {
      making -= 1;
      // In a later piece of work, when the answer has been written and counts.
      turns.add(admit);
    }
  };
}

function unreadBytes(unread: ReadonlyMap<ClientStream, number>): number {
  let bytes = 0;
  for (const client of unread.keys()) bytes += client.writableLength;
  return bytes;
}
