/**
 * What a received message is still worth. A queue delivers late and twice, and schedules send what may not be needed: most of that is
 * dropped here, before it takes a token and so ends the run that holds the shard. Safety does not hang on it: the claim asks again.
 *
 * The first receiver of a slot's message, while the run of an earlier slot still beats, asks that run to leave (in RUN): claimed over, that
 * run could not write what its successor needs.
 */

import { lastBeat, lookAgainMs } from '../core/beat.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import { QueueDenied, QueueUnavailable, type ShardMessage } from '../queue/queue.ts';
import { doneSlotOf, isAhead, isPassed } from '../schedule/slots.ts';
import { generationAttribute } from '../store/items.ts';
import { layoutKey, runKey } from '../store/keys.ts';
import { type Item, type Store, StoreUnavailable } from '../store/store.ts';
import { writeSurely } from '../table/write.ts';
import { beatIntervalMs, visibilityMs } from './beat.ts';
import { beatConditions } from './commit/fence.ts';
import { fencedPorts, type Ports } from './ports.ts';
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

/** The holder's next beat, its drain and its last writes; less than the lease of who waits. */
const leaveMaxMs = 10_000;
const lookMs = 1_000;

/** Resolves when the holder has left, is dead or takes too long. @throws StoreUnavailable, QueueUnavailable */
export async function askToLeave(
  ports: Ports,
  message: ShardMessage,
  { aheadMs, stop }: { readonly aheadMs: number; readonly stop: AbortSignal | undefined },
): Promise<void> {
  const { clock, lease } = ports;
  const fenced = fencedPorts(ports);
  const read = () => fenced.store.get(runKey(message.shard));
  const holder = await read();
  if (!holder || !beatsNow(holder, message, clock.nowMs() - aheadMs)) return;
  const { token } = holder;
  if (typeof token !== 'number' || !(await lease.extend(visibilityMs))) return;
  const untilMs = clock.monotonicMs() + leaveMaxMs;
  const key = runKey(message.shard);
  const asked = await writeSurely(fenced, [
    { kind: 'update', key, set: { leave: token }, if: beatConditions({ token }) },
  ]);
  if (asked.kind !== 'written') return;
  ports.log.info('holder asked to leave', { shard: message.shard, slot: message.slot });
  while (clock.monotonicMs() < untilMs && !stop?.aborted) {
    await sleep(clock, lookMs, stop);
    const now = await read();
    if (now?.token !== token || now.beat === lastBeat) return;
  }
}

/** As far as clocks can tell; where they cannot, its successor claims the shard at once. */
const beatsNow = ({ beat, beatAtMs, generation, slot }: Item, message: ShardMessage, nowMs: number): boolean =>
  beat !== lastBeat &&
  generation === message.generation &&
  typeof slot === 'number' &&
  slot < message.slot &&
  typeof beatAtMs === 'number' &&
  Math.abs(nowMs - beatAtMs) < 2 * beatIntervalMs;
