/**
 * Runs long work in slices. All work together gets a few milliseconds of each turn of the event loop and is served
 * round robin, so that neither one long piece of work nor many of them delay other events.
 */

/** Does one piece of the work, which should take much less than a slice. Returns true if more remains. */
export type Work = () => boolean;

export type Slices = {
  /** Runs the work from the next turn on. Adding the same work again has no effect while it waits. */
  readonly add: (work: Work) => void;
};

export type SlicesPorts = {
  readonly monotonicMs: () => number;
  /** Calls back in the next turn, after the events that are already pending. */
  readonly nextTurn: (callback: () => void) => void;
};

/** The time for all slices of one turn. */
export const sliceMs = 5;

export function slices({ monotonicMs, nextTurn }: SlicesPorts): Slices {
  /** In the order in which the work runs. */
  const waiting = new Set<Work>();
  let isScheduled = false;
  const schedule = () => {
    isScheduled = true;
    nextTurn(run);
  };
  const run = () => {
    isScheduled = false;
    const untilMs = monotonicMs() + sliceMs;
    // Unfinished work goes to the end of the set; this loop reaches it again if time is left.
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
