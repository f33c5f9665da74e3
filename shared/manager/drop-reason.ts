/** Whether a message is still worth a run, as far as its own text, LAYOUT and RUN say. */
import { type Clock, sleep } from '../lib/clock.ts';
import type { ShardMessage } from '../queue/queue.ts';
import { generationAttribute } from '../store/items.ts';
import { layoutKey, runKey } from '../store/keys.ts';
import type { Item, Store } from '../store/store.ts';
import { lastBeat } from './beat.ts';
import { doneSlotOf, isPassed } from './done-slot.ts';

/** Longer than a beat and its first repetition take. */
export const lookAgainMs = 6_000;
/** A rescue that waited longer was sent for something else than what it would find. */
const rescueAgeMsMax = 90_000;

export type DropReason = 'slotEnded' | 'otherGeneration' | 'slotDone' | 'slotPassed' | 'holderAlive' | 'rescueTooOld';

type ReceiptPorts = { readonly store: Store; readonly clock: Clock };

/** undefined: it is to be run. `redelivered`: somebody else has received the message before. @throws StoreUnavailable */
export async function reasonToDrop(
  ports: ReceiptPorts,
  message: ShardMessage,
  { redelivered = false } = {},
): Promise<DropReason | undefined> {
  const { store, clock } = ports;
  if (clock.nowMs() >= message.slotEndMs) return 'slotEnded';
  const layout = await store.get(layoutKey);
  if (layout?.[generationAttribute(message.shard)] !== message.generation) return 'otherGeneration';
  const run = await store.get(runKey(message.shard));
  if (doneSlotOf(run, message) >= message.slot) return 'slotDone';
  if (isPassed(run, message)) return 'slotPassed';
  if (message.kind === 'slot') return undefined;
  // Handed over: there is no holder to wait for.
  if (redelivered && run?.beat === lastBeat) return undefined;
  const reason = await reasonToLeave(ports, message, run);
  // What was taken up before lay with a holder since then.
  return reason === 'rescueTooOld' && redelivered ? undefined : reason;
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
