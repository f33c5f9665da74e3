/**
 * The part of each turn of the event loop in which the clients of the API are served, all of them together: what they
 * send is read, and what they ask for is done, in pieces. Probing has the rest, so no number of requests delays it.
 */
import { loopTurns, type Rest, type Slices, type SlicesPorts, slices } from '../../../shared/lib/slices.ts';

/**
 * Those without a valid token have a part of their own, so that they take nothing from those with one. So has the first
 * request of a connection: it waits for nothing that others pipeline. And what supervisors ask waits for no other first
 * request, however many clients come and go.
 */
export type ClientTurns = {
  readonly supervisors: Slices;
  readonly known: Slices;
  readonly newcomers: Slices;
  readonly strangers: Slices;
};

/** A probe meets two or three turns on its way, each with such a part. */
const knownMs = 3;
/** Enough for some ten first requests at a time: connections that wait for it are many where clients come and go. */
const newcomersMs = 2;
const strangersMs = 1;
/** They wait for each other only, and a second is long: a flood of them is over in half of one. */
const supervisorsMs = 5;
/** So many times as long as a part took, the loop is for others afterwards. */
const rests = {
  supervisors: { usual: 1, busy: 4 },
  newcomers: { usual: 4, busy: 9 },
  strangers: { usual: 9, busy: 19 },
};
/** Of the known, unless the loop is idle before. */
const knownRestBusy = 4;
/**
 * A loop without an idle moment for so long is busy. It must turn often all the same: it accepts one connection in each
 * turn, and what waits to be accepted behind others may be a supervisor's.
 */
const busyMs = 30;
const momentMs = 0.1;

export type TurnsPorts = Pick<SlicesPorts, 'monotonicMs' | 'nextTurn' | 'afterPromises'> & {
  readonly later: Rest['later'];
  /** How long the event loop has had nothing to do since its start. */
  readonly idleMs: () => number;
};

const ofNode: TurnsPorts = {
  ...loopTurns,
  later: (ms, callback) => void setTimeout(callback, ms),
  idleMs: () => performance.nodeTiming.idleTime,
};

/** One for the process, since it has one event loop. `begins`: called before each piece of work. */
export function clientTurns(begins?: () => void, { later, idleMs, ...turns }: TurnsPorts = ofNode): ClientTurns {
  const loop = watchedLoop({ ...turns, idleMs });
  const ofPart = (turnMs: number, rest: Omit<Rest, 'later'>) =>
    slices({ ...turns, begins, turnMs, rest: { ...rest, later } });
  const resting = (turnMs: number, { usual, busy }: { readonly usual: number; readonly busy: number }) =>
    ofPart(turnMs, { msAfter: (tookMs) => tookMs * (loop.isBusy() ? busy : usual) });
  return {
    supervisors: resting(supervisorsMs, rests.supervisors),
    known: ofPart(knownMs, {
      // What takes longer than its slice costs as much time again, in which all that it delayed is done.
      msAfter: (tookMs) => Math.max(0, tookMs - knownMs),
      untilIdle: {
        msAfter: (tookMs) => (loop.isBusy() ? tookMs * knownRestBusy : 0),
        isIdle: () => !loop.isBusy(),
      },
    }),
    newcomers: resting(newcomersMs, rests.newcomers),
    strangers: resting(strangersMs, rests.strangers),
  };
}

/** Notices an idle moment when it is asked for one. */
function watchedLoop({ monotonicMs, idleMs }: Pick<TurnsPorts, 'monotonicMs' | 'idleMs'>) {
  let [seenMs, atMs] = [idleMs(), monotonicMs()];
  return {
    isBusy(): boolean {
      const [nowMs, idle] = [monotonicMs(), idleMs()];
      if (idle - seenMs >= momentMs) [seenMs, atMs] = [idle, nowMs];
      return nowMs - atMs >= busyMs;
    },
  };
}
