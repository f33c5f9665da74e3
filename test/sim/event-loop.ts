/** The event loop of a process whose steps take time: what comes while it is busy waits in order. */
export type EventLoop = {
  /** Occupies the loop for so many ms of one vCPU more. */
  spend(vcpuMs: number): void;
  /** CPU time that was spent so far, ms of one vCPU. */
  usedMs(): number;
  /** How far the present step is beyond the beginning of its turn: what the process's clock shows more, ms. */
  aheadMs(): number;
  /** When the next step may begin. */
  freeAtMs(): number;
  /** Runs when everything that waits before it has. */
  enqueue(step: () => void): void;
  /** The next step that waits. */
  next(): (() => void) | undefined;
  readonly waiting: number;
  /** A turn of the loop has been scheduled. */
  turning: boolean;
};

export function eventLoop(nowMs: () => number, vcpus: number): EventLoop {
  let busyUntilMs = 0;
  let usedMs = 0;
  let steps: (() => void)[] = [];
  let first = 0;
  return {
    spend(vcpuMs) {
      busyUntilMs = Math.max(busyUntilMs, nowMs()) + vcpuMs / vcpus;
      usedMs += vcpuMs;
    },
    usedMs: () => usedMs,
    aheadMs: () => Math.max(0, busyUntilMs - nowMs()),
    // The world's time is in whole ms; what is left of one is spent with the next step.
    freeAtMs: () => Math.floor(busyUntilMs),
    enqueue: (step) => void steps.push(step),
    next() {
      const step = steps[first];
      first += 1;
      if (first < steps.length) return step;
      steps = [];
      first = 0;
      return step;
    },
    get waiting() {
      return steps.length - first;
    },
    turning: false,
  };
}
