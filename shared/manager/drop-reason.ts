/** Whether a message is still worth a run, as far as its own text, LAYOUT and RUN say. */
import { type Clock, sleep } from '../lib/clock.ts';
import type { ShardMessage } from '../queue/queue.ts';
import { generationAttribute } from '../store/items.ts';
import { layoutKey, runKey } from '../store/keys.ts';
import type { Item, Store } from '../store/store.ts';
import { doneSlotOf } from './done-slot.ts';

/** Longer than a beat and its first repetition take. */
const lookAgainMs = 6_000;
/** A rescue that waited longer was sent for something else than what it would find. */
const rescueAgeMsMax = 90_000;

export type DropReason = 'slotEnded' | 'otherGeneration' | 'slotDone' | 'holderAlive' | 'rescueTooOld';

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
