/**
 * Decides whether a received message is still useful. A queue delivers late and twice, and schedules send messages that
 * may not be needed. Most of these are dropped here, before they take a token and so end the run that holds the shard.
 * Safety does not depend on this: the claim tests its conditions again.
 *
 * The first receiver of a slot's message may find that the run of an earlier slot still beats. It then asks that run,
 * by an attribute of RUN, to leave. If it claimed the shard at once, that run could no longer write what its successor
 * needs.
 */
import { lastBeat, lookAgainMs } from '../core/shards/beat.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import { QueueDenied, QueueUnavailable, type ShardMessage } from '../queue/queue.ts';
import { doneSlotOf, isAhead, isPassed } from '../schedule/slots.ts';
import { generationAttribute } from '../store/records/items.ts';
import { layoutKey, runKey } from '../store/records/keys.ts';
import { type Item, type Store, StoreUnavailable } from '../store/store.ts';
import { writeSurely } from '../table/write.ts';
import { beatConditions, beatIntervalMs, visibilityMs } from './beat.ts';
import { fencedPorts, type Ports, type RunEnd } from './run.ts';
import { runShard } from './shard-run.ts';

/**
 * `runShard` for a message as it comes from a queue. A message that is no longer useful ends as stale. Never throws.
 */
export const runReceived: typeof runShard = async (ports, message, deadlineMs, options = {}) => {
  try {
    // From here on, a crash delays the message by this lease, not by the default visibility of the queue.
    if (!(await firstLease(ports))) return { kind: 'doubt', reason: 'the lease was refused' };
    const reason = await reasonToDrop(ports, message, options);
    const { redelivered = false, aheadMs = 0, stop } = options;
    if (!reason && message.kind === 'slot' && message.mode !== 'tick' && !redelivered)
      await askToLeave(ports, message, { aheadMs, stop });
    const end: RunEnd = reason ? { kind: 'stale' } : await runShard(ports, message, deadlineMs, options);
    const { kind, shard, generation, slot } = message;
    // A message that has become useless since the decision above is dropped too. Its shard waits for the next one.
    if (end.kind === 'stale')
      ports.log.info('message dropped', { reason: reason ?? 'overtaken', kind, shard, generation, slot });
    return end;
  } catch (cause) {
    const isOutage = cause instanceof StoreUnavailable || cause instanceof QueueUnavailable;
    ports.log[isOutage ? 'warn' : 'error']('message not judged', { shard: message.shard, cause });
    return { kind: 'doubt', reason: 'the message could not be judged' };
  }
};

/**
 * A process that gives up here leaves the message group locked for the default visibility of the queue, which may be as
 * long as the time-out of a function.
 */
const leaseTriesMax = 12;
const leaseAgainMs = 1_000;

/** @throws QueueUnavailable when the queue stays unreachable. */
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

/** A rescue that has waited longer is dropped: the state of the shard is no longer the one that it was sent for. */
const rescueAgeMsMax = 90_000;

export type DropReason = 'slotEnded' | 'otherGeneration' | 'slotDone' | 'slotPassed' | 'holderAlive' | 'rescueTooOld';

type ReceiptPorts = { readonly store: Store; readonly clock: Clock };

/**
 * undefined: run the message. `redelivered`: the message has been received before. `isAlone`: no other run can hold the
 * shard. `aheadMs`: how far the clock of this process is ahead of the schedule's.
 * @throws StoreUnavailable
 */
export async function reasonToDrop(
  ports: ReceiptPorts,
  message: ShardMessage,
  { redelivered = false, isAlone = false, aheadMs = 0 } = {},
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
  // The last run ended in order: it handed over, or it ran for a slot in the future because its clock was ahead. There
  // is no holder to wait for.
  if (run?.beat === lastBeat && (redelivered || message.kind === 'slot')) return undefined;
  if (!isAlone && (await isHeld(ports, message, run))) return 'holderAlive';
  const isOld = clock.nowMs() - aheadMs - message.sentAtMs > rescueAgeMsMax;
  // A redelivered rescue is not too old: it has been with a holder meanwhile.
  return message.kind === 'rescue' && isOld && !redelivered ? 'rescueTooOld' : undefined;
}

/** Compares the numbers of beats, not their times, because clocks differ. A new token means a new holder. */
async function isHeld(
  { store, clock }: ReceiptPorts,
  { shard }: Pick<ShardMessage, 'shard'>,
  before: Item | undefined,
): Promise<boolean> {
  await sleep(clock, lookAgainMs);
  const after = await store.get(runKey(shard));
  return after?.beat !== before?.beat || after?.token !== before?.token;
}

/**
 * Enough for the next beat of the holder, its drain and its last writes. Shorter than the lease of the process that
 * waits.
 */
const leaveMaxMs = 10_000;
const lookMs = 1_000;

/**
 * Resolves when the holder has left, is dead or takes too long.
 * @throws StoreUnavailable, QueueUnavailable
 */
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

/**
 * Whether the run of an earlier slot still beats, as far as the clocks of two processes can show that. Where they
 * differ too much, its successor claims the shard at once.
 */
const beatsNow = ({ beat, beatAtMs, generation, slot }: Item, message: ShardMessage, nowMs: number): boolean =>
  beat !== lastBeat &&
  generation === message.generation &&
  typeof slot === 'number' &&
  slot < message.slot &&
  typeof beatAtMs === 'number' &&
  Math.abs(nowMs - beatAtMs) < 2 * beatIntervalMs;
