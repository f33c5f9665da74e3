/**
 * The part of each turn of the event loop in which the clients of the API are served, all of them together: what they
 * send is read, and what they ask for is done, in pieces. Probing has the rest, so no number of requests delays it.
 */
import { loopTurns } from '../../shared/lib/loop-turns.ts';
import { type Slices, slices } from '../../shared/lib/slices.ts';

/**
 * Those without a valid token have a part of their own, so that they take nothing from those with one. So has the first
 * request of a connection: it may be that of a supervisor, and waits for nothing that others pipeline.
 */
export type ClientTurns = { readonly known: Slices; readonly newcomers: Slices; readonly strangers: Slices };

/** A probe meets two or three turns on its way, each with such a part. */
const knownMs = 3;
/** Enough for some ten first requests at a time: connections that wait for it are many where clients come and go. */
const newcomersMs = 2;
const strangersMs = 1;
/** From one part to the next: a flood of both takes a third of a core, and keeps none from sleeping. */
const strangersEveryMs = 10;

/** One for the process, since it has one event loop. `begins`: called before each piece of work. */
export function clientTurns(begins?: () => void): ClientTurns {
  const ofPart = (turnMs: number, msAfter: (tookMs: number) => number) =>
    slices({ ...loopTurns, begins, turnMs, rest: { msAfter, later } });
  const ofEvery = (turnMs: number) => ofPart(turnMs, (tookMs) => tookMs * (strangersEveryMs / turnMs - 1));
  return {
    // What takes longer than its slice costs as much time again, in which all that it delayed is done.
    known: ofPart(knownMs, (tookMs) => Math.max(0, tookMs - knownMs)),
    newcomers: ofEvery(newcomersMs),
    strangers: ofEvery(strangersMs),
  };
}

const later = (ms: number, callback: () => void): void => void setTimeout(callback, ms);
