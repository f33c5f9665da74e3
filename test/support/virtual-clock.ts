/**
 * A clock for a whole process under test: time stands still while anything is still on its way (an answer, a process, a
 * promise) and then jumps to the next timer. So a slow machine never makes a time-out, and minutes pass in moments.
 */
import type { Clock } from '../../shared/lib/clock.ts';

export type VirtualClock = Clock & {
  /**
   * Moves on by this much: the timers that come due on the way run in order, each once the process has become quiet.
   */
  advance(ms: number): Promise<void>;
  /** Moves on, timer by timer, until the promise is settled. */
  runUntil<Answer>(promise: Promise<Answer> | Answer): Promise<Answer>;
  /** Timers that are set. */
  pending(): number;
  /** The process stands still: so much time passes at once, and every timer that is set runs so much later. */
  stand(ms: number): void;
  /** Wall time alone moves, as when the clock is set. */
  jump(ms: number): void;
};

export type VirtualClockOptions = {
  /** Wall time at the beginning, ms since the epoch. */
  readonly startMs?: number;
  /** Resolves when everything that is still under way waits for this clock. */
  readonly quiet?: () => Promise<void>;
};

type Timer = { readonly dueMs: number; readonly callback: () => void };

export function virtualClock({ startMs = defaultStartMs, quiet = turns }: VirtualClockOptions = {}): VirtualClock {
  const timers = new Set<Timer>();
  let elapsedMs = 0;
  let stoodMs = 0;
  let jumpedMs = 0;

  /** A set keeps its order, so of timers that are due together the one that was set first comes first. */
  const next = (): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) if (!first || timer.dueMs < first.dueMs) first = timer;
    return first;
  };
  const fire = (timer: Timer) => {
    timers.delete(timer);
    elapsedMs = Math.max(elapsedMs, timer.dueMs);
    timer.callback();
  };

  return {
    nowMs: () => startMs + elapsedMs + stoodMs + jumpedMs,
    monotonicMs: () => elapsedMs + stoodMs,
    setTimer(delayMs, callback) {
      const timer: Timer = { dueMs: elapsedMs + Math.max(0, delayMs), callback };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    async advance(ms) {
      const untilMs = elapsedMs + ms;
      await quiet();
      for (let timer = next(); timer && timer.dueMs <= untilMs; timer = next()) {
        fire(timer);
        await quiet();
      }
      elapsedMs = untilMs;
    },
    async runUntil(promise) {
      let settled = false;
      const watched = Promise.resolve(promise).finally(() => {
        settled = true;
      });
      watched.catch(() => undefined);
      await quiet();
      for (let timers = 0; !settled; timers += 1) {
        if (timers >= timersMax) throw new Error(`${timers} timers have run and the promise is not settled`);
        const timer = next();
        if (!timer) throw new Error('nothing goes on and no timer is set, but the promise is not settled');
        fire(timer);
        await quiet();
      }
      return watched;
    },
    pending: () => timers.size,
    stand(ms) {
      stoodMs += ms;
    },
    jump(ms) {
      jumpedMs += ms;
    },
  };
}

/** A waiter for what never comes has to learn that before the machine is switched off. */
const timersMax = 1_000_000;

const defaultStartMs = Date.UTC(2030, 0, 1);

const turnsMin = 4;

/** Enough for what has no I/O of its own: promises, and callbacks of a few turns of the event loop. */
export async function turns(count = turnsMin): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await turnOfTheLoop();
}

export const turnOfTheLoop = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
