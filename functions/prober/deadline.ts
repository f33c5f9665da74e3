/** When a run has to let go: before Lambda ends the invocation by force, which would leave the shard to nobody for its visibility. */
import type { Clock } from '../../shared/lib/clock.ts';
import type { InvocationContext } from '../lambda/context.ts';

/**
 * What a run may still need to end in order: 2 s for probes in flight, then checkpoints and the last beat, each tried again for some
 * seconds while the table is slow.
 */
export const marginMs = 20_000;
/** Of a function that was given little time, this part; or its message would come again at once, and again. */
const marginPart = 1 / 3;

/** Lambda's time goes on while the machine stands still, and a timer's does not: so it is asked again. */
const lookAgainMs = 10_000;

export type Deadline = {
  /** Aborted when it is time. */
  readonly signal: AbortSignal;
  /** Nothing waits any more. */
  cancel(): void;
};

export function invocationDeadline(clock: Clock, context: InvocationContext): Deadline {
  const abort = new AbortController();
  let cancelTimer = () => {};
  const margin = Math.min(marginMs, context.getRemainingTimeInMillis() * marginPart);
  const look = () => {
    const leftMs = context.getRemainingTimeInMillis() - margin;
    if (leftMs <= 0) abort.abort();
    else cancelTimer = clock.setTimer(Math.min(leftMs, lookAgainMs), look);
  };
  look();
  return { signal: abort.signal, cancel: () => cancelTimer() };
}
