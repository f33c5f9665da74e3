/**
 * A port that records which piece of work the event loop is running, so that a watchdog outside the loop can name the
 * work that blocks it. The record is kept where another thread can read it. Without a watchdog there is no attribution.
 */
import { afterArrivals, type Clock } from './clock.ts';

export type Attribution = {
  /**
   * Starts a new piece of work. The loop runs on its behalf until the current callback ends. `name` is at most
   * `workNameBytesMax` bytes long.
   */
  start(name: string): Work;
  /** Returns the same callback, attributed to the work that is running now. */
  bind(callback: () => void): () => void;
};

/**
 * Work that continues in later callbacks. A promise does not record who created it, so the code that wakes the work
 * must call `resumes`.
 */
export type Work = {
  /**
   * The loop runs this work again, until the current callback and the promises that it settles are done. Has no effect
   * after `end`.
   */
  readonly resumes: () => void;
  /** The work is done; what the loop runs next does not belong to it. */
  readonly end: () => void;
};

export const workNameBytesMax = 508;

/** A clock whose timers run on behalf of the work that set them. */
export const attributedClock = <Given extends Clock>(clock: Given, { bind }: Attribution): Given => ({
  ...clock,
  setTimer: (delayMs, callback) => clock.setTimer(delayMs, bind(callback)),
  afterArrivals: (callback) => afterArrivals(clock, bind(callback)),
});
