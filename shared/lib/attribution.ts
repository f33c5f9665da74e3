/**
 * On whose behalf the event loop runs what it runs. Whoever watches the loop from outside can then name the work that hangs it. A port: it
 * is kept where another thread can read it, and it is absent where nobody watches.
 */
import type { Clock } from './clock.ts';

export type Attribution = {
  /** From here to the end of this turn's callback the loop runs on behalf of a new piece of work; `name`: at most `workNameBytesMax` bytes. */
  start(name: string): Work;
  /** The same callback, on behalf of the work that runs now. */
  bind(callback: () => void): () => void;
};

/** Work that goes on in later callbacks. Promises do not say whose they are: whatever wakes the work up again has to call `resumes`. */
export type Work = {
  /** The loop goes on with this work, to the end of this turn's callback and the promises that it settles. After `end` it does nothing. */
  readonly resumes: () => void;
  /** The loop does something else. */
  readonly end: () => void;
};

export const workNameBytesMax = 508;

/** A clock whose timers run on behalf of the work that set them. */
export const attributedClock = <Given extends Clock>(clock: Given, { bind }: Attribution): Given => ({
  ...clock,
  setTimer: (delayMs, callback) => clock.setTimer(delayMs, bind(callback)),
});
