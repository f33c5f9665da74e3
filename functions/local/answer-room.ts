/**
 * Bounds the memory of answers: those that are being made, and those that their clients do not read. A request waits
 * for room before anything is done for it; meanwhile the client that has read nothing for longest is disconnected.
 */
import { type Clock, systemClock } from '../../shared/lib/clock.ts';
import type { Slices } from '../../shared/lib/slices.ts';
import type { ClientStream } from './client-stream.ts';
import { WaitingRequests } from './waiting-requests.ts';

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
  const waiting = new WaitingRequests();
  let making = 0;
  let isLooking = false;
  const hasRoom = () => making < makingMax && unreadBytes(unread) <= unreadBytesMax;
  const admit = (): boolean => {
    if (!hasRoom() || !waiting.admitNext()) return false;
    making += 1;
    return !waiting.isEmpty;
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
    isLooking = !waiting.isEmpty;
    if (!isLooking) return;
    turns.add(disconnect);
    turns.add(admit);
    clock.setTimer(lookMs, look);
  };
  const lookLater = () => {
    if (isLooking) return;
    isLooking = true;
    clock.setTimer(lookMs, look);
  };
  return async (request) => {
    if (!methods.has(request.method)) return fetch(request);
    if (waiting.isEmpty && hasRoom()) making += 1;
    else {
      lookLater();
      if (!(await waiting.wait(request))) return new Response();
    }
    try {
      return await fetch(request);
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
