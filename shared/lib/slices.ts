/**
 * Long work in slices: in each turn of the event loop all of it together gets a few milliseconds, piece by piece and in turn. So neither one
 * piece of work nor many of them delay what else the loop has to do.
 */

/** One piece of the work, which should take well below a slice; true: there is more of it. */
export type Work = () => boolean;

export type Slices = {
  /** Does the work from the next turn on. Work that is added again is not done twice. */
  readonly add: (work: Work) => void;
};

export type SlicesPorts = {
  readonly monotonicMs: () => number;
  /** Calls back in the next turn, after the events that have come. */
  readonly nextTurn: (callback: () => void) => void;
};

/** All slices of one turn. */
export const sliceMs = 5;

export function slices({ monotonicMs, nextTurn }: SlicesPorts): Slices {
  /** In the order in which it is done. */
  const waiting = new Set<Work>();
  let isScheduled = false;
  const schedule = () => {
    isScheduled = true;
    nextTurn(run);
  };
  const run = () => {
    isScheduled = false;
    const untilMs = monotonicMs() + sliceMs;
    // What is not done goes behind the others, and the loop comes to it again if there is time.
    for (const work of waiting) {
      waiting.delete(work);
      if (work()) waiting.add(work);
      if (monotonicMs() >= untilMs) break;
    }
    if (waiting.size > 0 && !isScheduled) schedule();
  };
  return {
    add: (work) => {
      waiting.add(work);
      if (!isScheduled) schedule();
    },
  };
}
