/** Whether a message is still worth a run, as far as its own text, LAYOUT and RUN say. */
import { type Clock, sleep } from '../lib/clock.ts';
import type { ShardMessage } from '../queue/queue.ts';
import { generationAttribute } from '../store/items.ts';
import { layoutKey, runKey } from '../store/keys.ts';
import type { Item, Store } from '../store/store.ts';
import { lastBeat } from './beat.ts';
import { doneSlotOf, isAhead, isPassed } from './done-slot.ts';

/** Longer than a beat and its first repetition take. */
export const lookAgainMs = 6_000;
/** A rescue that waited longer was sent for something else than what it would find. */
const rescueAgeMsMax = 90_000;

export type DropReason = 'slotEnded' | 'otherGeneration' | 'slotDone' | 'slotPassed' | 'holderAlive' | 'rescueTooOld';

type ReceiptPorts = { readonly store: Store; readonly clock: Clock };

/**
 * undefined: it is to be run. `redelivered`: the message has been received before. `aheadMs`: how far this process's clock is ahead of
 * the schedule's. @throws StoreUnavailable
 */
export async function reasonToDrop(
  ports: ReceiptPorts,
  message: ShardMessage,
  { redelivered = false, aheadMs = 0 } = {},
): Promise<DropReason | undefined> {
  const { store, clock } = ports;
  const nowMs = clock.nowMs() - aheadMs;
  if (nowMs >= message.slotEndMs) return 'slotEnded';
  const layout = await store.get(layoutKey);
  if (layout?.[generationAttribute(message.shard)] !== message.generation) return 'otherGeneration';
  const run = await store.get(runKey(message.shard));
  if (message.kind === 'slot' && doneSlotOf(run, message, nowMs) >= message.slot) return 'slotDone';
  if (isPassed(run, message, nowMs)) return 'slotPassed';
  if (message.kind === 'slot' && !isAhead(run, message, nowMs)) return undefined;
  // Handed over, or begun by a clock that was ahead and ended: there is no holder to wait for.
  if (run?.beat === lastBeat && (redelivered || message.kind === 'slot')) return undefined;
  if (await isHeld(ports, message, run)) return 'holderAlive';
  const isOld = clock.nowMs() - aheadMs - message.sentAtMs > rescueAgeMsMax;
  // What was taken up before lay with a holder since then.
  return message.kind === 'rescue' && isOld && !redelivered ? 'rescueTooOld' : undefined;
}

/** By the number of the beat, not by its time: clocks differ. A new token is a new holder. */
async function isHeld(
  { store, clock }: ReceiptPorts,
  { shard }: Pick<ShardMessage, 'shard'>,
  before: Item | undefined,
): Promise<boolean> {
  await sleep(clock, lookAgainMs);
  const after = await store.get(runKey(shard));
  return after?.beat !== before?.beat || after?.token !== before?.token;
}
