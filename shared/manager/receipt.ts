/**
 * What a received message is still worth. A queue delivers late and twice, and schedules send what may not be needed: most of that is
 * dropped here, before it takes a token and so ends the run that holds the shard. Safety does not hang on it: the claim asks again.
 */
import { type Clock, sleep } from '../lib/clock.ts';
import { QueueUnavailable, type ShardMessage } from '../queue/queue.ts';
import { generationAttribute } from '../store/items.ts';
import { layoutKey, runKey } from '../store/keys.ts';
import { type Item, type Store, StoreUnavailable } from '../store/store.ts';
import { visibilityMs } from './beat.ts';
import { doneSlotOf } from './claim.ts';
import type { Ports } from './ports.ts';
import { runShard } from './run-shard.ts';

/** Longer than a beat and its first repetition take. */
const lookAgainMs = 6_000;
/** A rescue that waited longer was sent for something else than what it would find. */
const rescueAgeMsMax = 90_000;

export type DropReason = 'slotEnded' | 'otherGeneration' | 'slotDone' | 'holderAlive' | 'rescueTooOld';

/** `runShard` for a message as it comes from a queue: one that is worth nothing ends as stale. Never throws. */
export const runReceived: typeof runShard = async (ports, message, deadlineMs, options) => {
  try {
    // A crash from here on costs this long, not the queue's own visibility.
    if (!(await firstLease(ports))) return { kind: 'doubt', reason: 'the lease was refused' };
    const reason = await reasonToDrop(ports, message);
    if (reason === undefined) return await runShard(ports, message, deadlineMs, options);
    const { kind, shard, generation, slot } = message;
    ports.log.info('message dropped', { reason, kind, shard, generation, slot });
    return { kind: 'stale' };
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
      if (!(error instanceof QueueUnavailable) || tries === leaseTriesMax) throw error;
      await sleep(clock, leaseAgainMs);
    }
  }
}

type ReceiptPorts = { readonly store: Store; readonly clock: Clock };

/** undefined: it is to be run. @throws StoreUnavailable */
export async function reasonToDrop(ports: ReceiptPorts, message: ShardMessage): Promise<DropReason | undefined> {
  const { store, clock } = ports;
  if (clock.nowMs() >= message.slotEndMs) return 'slotEnded';
  const layout = await store.get(layoutKey);
  if (layout?.[generationAttribute(message.shard)] !== message.generation) return 'otherGeneration';
  const run = await store.get(runKey(message.shard));
  if (doneSlotOf(run, message) >= message.slot) return 'slotDone';
  return message.kind === 'rescue' ? reasonToLeave(ports, message, run) : undefined;
}

/** By the number of the beat, not by its time: clocks differ. A new token is a new holder. */
async function reasonToLeave(
  { store, clock }: ReceiptPorts,
  { shard, sentAtMs }: ShardMessage,
  before: Item | undefined,
): Promise<DropReason | undefined> {
  await sleep(clock, lookAgainMs);
  const after = await store.get(runKey(shard));
  if (after?.beat !== before?.beat || after?.token !== before?.token) return 'holderAlive';
  return clock.nowMs() - sentAtMs > rescueAgeMsMax ? 'rescueTooOld' : undefined;
}
