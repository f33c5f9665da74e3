/**
 * The time of the schedule, as a receiver knows it. Slots are the schedule's: a message says when it was sent, the queue how long it
 * waited, so its receiver need not trust its own wall clock to know which slot is going on.
 */
import type { Clock } from '../lib/clock.ts';
import type { Received, ShardMessage } from '../queue/queue.ts';

/** Clocks that differ by less agree: sending and receiving take time too. */
const agreeingMs = 10_000;

/** How far this process's wall clock is ahead of the schedule's; 0: they agree, or the queue does not know how long the message waited. */
export function aheadOfScheduleMs(
  clock: Pick<Clock, 'nowMs'>,
  { sentAtMs }: Pick<ShardMessage, 'sentAtMs'>,
  { waitedMs }: Pick<Received, 'waitedMs'>,
): number {
  if (waitedMs === undefined) return 0;
  const aheadMs = clock.nowMs() - (sentAtMs + waitedMs);
  return Math.abs(aheadMs) > agreeingMs ? aheadMs : 0;
}
