/** Time as a port: the machine's clock in production, a virtual one in tests and simulation. */
export interface Clock {
  /** Wall time, ms since the epoch. May jump; only initial delay, back-off, grace, freshness and phase read it. */
  nowMs(): number;
  /** Monotonic time in ms from an arbitrary origin: deadlines, durations, the self-fence. */
  monotonicMs(): number;
  /** Calls `callback` once after `delayMs` of monotonic time; returns what cancels it. Cancelling is idempotent. */
  setTimer(delayMs: number, callback: () => void): () => void;
}

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

/** Until `done`, but no longer than this, and not when `signal` is aborted. */
export async function within(clock: Clock, done: Promise<void>, ms: number, signal?: AbortSignal): Promise<void> {
  const over = new AbortController();
  const signals = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  await Promise.race([done, sleep(clock, ms, signals)]);
  over.abort();
}

export type EndingClock = Clock & {
  /** Every wait is over: the timers that are set run now, every deadline has passed, and what is set from now on runs soon. */
  end(): void;
};

/** Once a clock has ended: long enough for what a killed process or a closed socket still has to say. */
const afterEndMsMax = 100;
/** Longer than any deadline. */
const leapMs = 86_400_000;

/** A clock for work that may have to end before its time: whatever waits on it with a deadline gives up in order. */
export function endingClock(clock: Clock): EndingClock {
  const waiting = new Map<() => void, () => void>();
  let ended = false;
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs() + (ended ? leapMs : 0),
    setTimer(delayMs, callback) {
      const run = () => {
        if (waiting.delete(run)) callback();
      };
      const cancel = clock.setTimer(ended ? Math.min(delayMs, afterEndMsMax) : delayMs, run);
      waiting.set(run, cancel);
      return () => {
        waiting.delete(run);
        cancel();
      };
    },
    end() {
      ended = true;
      for (const [run, cancel] of [...waiting]) {
        cancel();
        run();
      }
    },
  };
}

/** CPU time that this process has used, in all of its threads. */
export function systemCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
