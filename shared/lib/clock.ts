/** Time as a port: the machine's clock in production, a virtual clock in tests and in the simulation. */
import { Bag, type BagItem, inNoBag } from './bag.ts';

export interface Clock {
  /**
   * Wall time in ms since the epoch. It may jump, so only initial delay, back-off, grace, freshness and phase use it.
   */
  nowMs(): number;
  /** Monotonic time in ms from an arbitrary origin, for deadlines, durations and the self-fence. */
  monotonicMs(): number;
  /**
   * Calls `callback` once after `delayMs` of monotonic time. The returned function cancels the timer and is idempotent.
   */
  setTimer(delayMs: number, callback: () => void): () => void;
  /**
   * Calls back once what had arrived before this call has been read. Absent: what arrives is read at once, as in
   * virtual time.
   */
  afterArrivals?(callback: () => void): void;
}

/**
 * For the end of a time-out. After a long turn of the event loop due timers run before what has arrived meanwhile is
 * read, and an answer that came in time would count as missing.
 */
export const afterArrivals = (clock: Clock, callback: () => void): void =>
  clock.afterArrivals ? clock.afterArrivals(callback) : callback();

/** Resolves after `delayMs`, or at once when `signal` is aborted. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.setTimer(delayMs, done);
    signal?.addEventListener('abort', done);
  });
}

/** Resolves when `done` resolves, after `ms`, or when `signal` is aborted, whichever comes first. */
export async function within(clock: Clock, done: Promise<void>, ms: number, signal?: AbortSignal): Promise<void> {
  const over = new AbortController();
  const signals = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  await Promise.race([done, sleep(clock, ms, signals)]);
  over.abort();
}

export type EndingClock = Clock & {
  /**
   * Ends all waits: timers that are set fire now, every deadline has passed, and new timers fire within
   * `afterEndMsMax`.
   */
  end(): void;
};

/** The longest timer after a clock has ended: enough for a killed process to exit or a socket to close. */
const afterEndMsMax = 100;
/** Longer than any deadline. */
const leapMs = 86_400_000;

/**
 * A clock for work that may have to stop early. Everything that waits on it with a deadline times out in the usual way.
 */
export function endingClock(clock: Clock): EndingClock {
  const waiting = new Bag<WaitingTimer>();
  let ended = false;
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs() + (ended ? leapMs : 0),
    setTimer(delayMs, callback) {
      const timer: WaitingTimer = { bagPlace: inNoBag, cancel: nothing, callback };
      timer.cancel = clock.setTimer(ended ? Math.min(delayMs, afterEndMsMax) : delayMs, () => {
        if (waiting.delete(timer)) callback();
      });
      waiting.add(timer);
      return () => {
        if (waiting.delete(timer)) timer.cancel();
      };
    },
    ...(clock.afterArrivals && { afterArrivals: clock.afterArrivals }),
    end() {
      ended = true;
      for (const timer of waiting.items()) {
        timer.cancel();
        if (waiting.delete(timer)) timer.callback();
      }
    },
  };
}

type WaitingTimer = BagItem & { cancel: () => void; readonly callback: () => void };

const nothing = (): void => undefined;

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  // The event loop reads what has arrived between its timers and its immediates.
  afterArrivals: (callback) => void setImmediate(callback),
};
