/** One deadline, with one timer, for everything that an attempt does. */
import { afterArrivals, type Clock } from '../lib/clock.ts';

export type Deadline = {
  /** On the clock's monotonic time. */
  readonly atMs: number;
  readonly isOver: () => boolean;
  /**
   * Calls back when the time is over and what had arrived by then has been read. Replaces the previous callback.
   */
  readonly whenOver: (call: () => void) => void;
  readonly cancel: () => void;
};

export function startDeadline(clock: Clock, timeoutMs: number): Deadline {
  const atMs = clock.monotonicMs() + timeoutMs;
  let over = false;
  let callWaiting: () => void = () => undefined;
  let hasRung = false;
  const ring = () => {
    if (!hasRung) {
      hasRung = true;
      afterArrivals(clock, ring);
      return;
    }
    over = true;
    callWaiting();
  };
  const cancel = clock.setTimer(timeoutMs, ring);
  return {
    atMs,
    isOver: () => over,
    whenOver: (call) => {
      callWaiting = call;
      if (over) call();
    },
    cancel,
  };
}

/** Go's text where the time of an HTTP probe ends before the head of an answer, also while it dials or shakes hands. */
export const awaitingHeadTimeout = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
