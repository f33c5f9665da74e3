/**
 * Runs long work in slices. All work together gets a few milliseconds of each turn of the event loop and is served
 * round robin, so that neither one long piece of work nor many of them delay other events.
 */
import { type Clock, sleep } from './clock.ts';

/** Does one piece of the work, which should take much less than a slice. Returns true if more remains. */
export type Work = () => boolean;

export type Slices = {
  /** Runs the work from the next turn on. Adding the same work again has no effect while it waits. */
  readonly add: (work: Work) => void;
  /**
   * To be awaited before each piece of work that has waited for something else: a timer, the store, another thread.
   * Resolves at once within a piece of work while the slice lasts, otherwise in the slice of a later turn.
   */
  readonly pause: () => Promise<void>;
};

export type SlicesPorts = {
  readonly monotonicMs: () => number;
  /** Calls back in the next turn, after the events that are already pending. */
  readonly nextTurn: (callback: () => void) => void;
  /**
   * Calls back in the same turn, once no promise callbacks are pending: then what follows a piece of work counts as
   * part of it. Absent: the work leaves no promises behind.
   */
  readonly afterPromises?: (callback: () => void) => void;
  /** Called before each piece of work. */
  readonly begins?: (() => void) | undefined;
  /** The time for all slices of one turn; default `sliceMs`. */
  readonly turnMs?: number;
  /**
   * How long other events have the loop for themselves after slices that took so long: a piece of work may take far
   * longer than a slice, and an event that it delayed may need several turns. Absent: no rest.
   */
  readonly rest?: Rest;
};

export type Rest = {
  readonly msAfter: (tookMs: number) => number;
  /** Where others leave the loop no moment: the rest lasts so long unless they do. Absent: it does not. */
  readonly untilIdle?: { readonly msAfter: (tookMs: number) => number; readonly isIdle: () => boolean };
  readonly later: (ms: number, callback: () => void) => void;
};

/** The time for all slices of one turn. */
export const sliceMs = 5;

/** How often a rest looks whether the loop has been idle. */
const lookMs = 1;

export function slices(ports: SlicesPorts): Slices {
  const { monotonicMs, nextTurn, afterPromises, begins, turnMs = sliceMs, rest } = ports;
  /** The waiting work, in the order in which it runs. */
  const waiting = new Set<Work>();
  const resting = rest && new Resting(rest, monotonicMs);
  let untilMs = 0;
  /** Until the slice of the turn has ended. */
  let isScheduled = false;
  /** Between the beginning of a piece of work and the end of what follows it. */
  let isWorking = false;
  const schedule = () => {
    isScheduled = true;
    if (!resting?.waits(run)) nextTurn(run);
  };
  const run = () => {
    untilMs = monotonicMs() + turnMs;
    goOn();
  };
  const goOn = () => {
    // Unfinished work goes to the end of the set; this loop reaches it again if time is left.
    for (const work of waiting) {
      waiting.delete(work);
      begins?.();
      isWorking = true;
      if (work()) waiting.add(work);
      if (afterPromises) return afterPromises(followed);
      isWorking = false;
      if (monotonicMs() >= untilMs) break;
    }
    end();
  };
  const followed = () => {
    isWorking = false;
    if (monotonicMs() >= untilMs) end();
    else goOn();
  };
  const end = () => {
    isScheduled = false;
    resting?.begin(monotonicMs() - (untilMs - turnMs));
    if (waiting.size > 0) schedule();
  };
  const add = (work: Work) => {
    waiting.add(work);
    if (!isScheduled) schedule();
  };
  const pause = (): Promise<void> => {
    if (isWorking && monotonicMs() < untilMs) return Promise.resolve();
    return new Promise((resolve) => {
      add(() => {
        resolve();
        return false;
      });
    });
  };
  return { add, pause };
}

/** The time in which others have the loop. */
class Resting {
  readonly #rest: Rest;
  readonly #monotonicMs: () => number;
  #untilMs = 0;
  #idleUntilMs = 0;

  constructor(rest: Rest, monotonicMs: () => number) {
    this.#rest = rest;
    this.#monotonicMs = monotonicMs;
  }

  /** After slices that took so long. */
  begin(tookMs: number): void {
    const endMs = this.#monotonicMs();
    this.#untilMs = endMs + this.#rest.msAfter(tookMs);
    this.#idleUntilMs = endMs + (this.#rest.untilIdle?.msAfter(tookMs) ?? 0);
  }

  /** Calls back at its end, unless that is now. */
  waits(callback: () => void): boolean {
    const leftMs = Math.max(this.#untilMs - this.#monotonicMs(), this.#awaitsIdle() ? lookMs : 0);
    if (leftMs <= 0) return false;
    this.#rest.later(leftMs, () => this.#lookedAt(callback));
    return true;
  }

  #lookedAt(callback: () => void): void {
    if (this.#awaitsIdle()) this.#rest.later(lookMs, () => this.#lookedAt(callback));
    else callback();
  }

  #awaitsIdle(): boolean {
    return this.#monotonicMs() < this.#idleUntilMs && this.#rest.untilIdle?.isIdle() === false;
  }
}

/**
 * Returns a function to await before each small piece of work. It yields to the event loop once `sliceMs` have passed
 * since the last yield.
 */
export function pacer(clock: Clock, sliceMs: number): () => Promise<void> {
  let sinceMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - sinceMs < sliceMs) return;
    await sleep(clock, 0);
    sinceMs = clock.monotonicMs();
  };
}

/** The turns of Node's event loop. */
export const loopTurns = {
  monotonicMs: () => performance.now(),
  nextTurn: (callback: () => void) => void setImmediate(callback),
  // Node runs `nextTick` callbacks once no promise callbacks are pending.
  afterPromises: (callback: () => void) => queueMicrotask(() => process.nextTick(callback)),
} satisfies SlicesPorts;
