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

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
