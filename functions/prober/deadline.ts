/**
 * The time at which a run must release its shard. If Lambda ended the invocation by force first, the shard would have
 * no holder until its visibility ends.
 */
import type { Clock } from '../../shared/lib/clock.ts';
import type { InvocationContext } from '../lambda/environment.ts';

/**
 * The time that a run may need to end in order: 2 s for probes in flight, then checkpoints and the last heartbeat, each
 * with retries over some seconds while the table is slow.
 */
export const marginMs = 20_000;
/**
 * With a short function time-out, the margin is this fraction. Otherwise a run would end immediately and its message
 * would return at once, again and again.
 */
const marginPart = 1 / 3;

/** Lambda's time continues while the machine is frozen, but a timer's does not, so the remaining time is read again. */
const lookAgainMs = 10_000;

export type Deadline = {
  /** Aborted when the time has come. */
  readonly signal: AbortSignal;
  /** Stops waiting for the deadline. */
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
