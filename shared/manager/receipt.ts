/**
 * What a received message is still worth. A queue delivers late and twice, and schedules send what may not be needed: most of that is
 * dropped here, before it takes a token and so ends the run that holds the shard. Safety does not hang on it: the claim asks again.
 */
import { sleep } from '../lib/clock.ts';
import { QueueDenied, QueueUnavailable } from '../queue/queue.ts';
import { StoreUnavailable } from '../store/store.ts';
import { askToLeave } from './ask-to-leave.ts';
import { visibilityMs } from './beat.ts';
import { reasonToDrop } from './drop-reason.ts';
import type { Ports } from './ports.ts';
import type { RunEnd } from './run.ts';
import { runShard } from './run-shard.ts';

/** `runShard` for a message as it comes from a queue: one that is worth nothing ends as stale. Never throws. */
export const runReceived: typeof runShard = async (ports, message, deadlineMs, options = {}) => {
  try {
    // A crash from here on costs this long, not the queue's own visibility.
    if (!(await firstLease(ports))) return { kind: 'doubt', reason: 'the lease was refused' };
    const reason = await reasonToDrop(ports, message, options);
    const { redelivered = false, aheadMs = 0, stop } = options;
    if (!reason && message.kind === 'slot' && message.mode !== 'tick' && !redelivered)
      await askToLeave(ports, message, { aheadMs, stop });
    const end: RunEnd = reason ? { kind: 'stale' } : await runShard(ports, message, deadlineMs, options);
    const { kind, shard, generation, slot } = message;
    // What became worth nothing since it was judged is dropped as well, and its shard waits for the next one.
    if (end.kind === 'stale')
      ports.log.info('message dropped', { reason: reason ?? 'overtaken', kind, shard, generation, slot });
    return end;
  } catch (cause) {
    const isOutage = cause instanceof StoreUnavailable || cause instanceof QueueUnavailable;
    ports.log[isOutage ? 'warn' : 'error']('message not judged', { shard: message.shard, cause });
    return { kind: 'doubt', reason: 'the message could not be judged' };
  }
};

/** Whoever gives up here leaves the group locked for the queue's own visibility, which may be as long as a function's time-out. */
const leaseTriesMax = 12;
const leaseAgainMs = 1_000;

/** @throws QueueUnavailable when the queue stays out of reach. */
async function firstLease({ lease, clock }: Pick<Ports, 'lease' | 'clock'>): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await lease.extend(visibilityMs);
    } catch (error) {
      const mayPass = error instanceof QueueUnavailable && !(error instanceof QueueDenied);
      if (!mayPass || tries === leaseTriesMax) throw error;
      await sleep(clock, leaseAgainMs);
    }
  }
}
