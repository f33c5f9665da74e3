/**
 * Which slots of a shard are done or superseded. Past and present slots count. A later one that the schedule already
 * saw in RUN when it composed the message does not: it was begun by a clock that was ahead, and believing it would
 * leave the shard without a holder until then. That costs no safety, because tokens keep two runs apart. But a later
 * one that the schedule did not see has begun since, so it counts: the message was late.
 *
 * Slots are counted by the schedule's clock. A message contains when it was sent, and the queue knows how long it
 * waited, so a receiver need not trust its wall clock to compute the current slot.
 */

import { hasCome } from '../core/shards/slots.ts';
import type { Clock } from '../lib/clock.ts';
import type { Received, ShardMessage } from '../queue/queue.ts';
import type { Condition, Item } from '../store/store.ts';

const shardOf = ({ buckets, mode }: ShardMessage) => ({
  from: buckets.from,
  mode: mode ?? ('resident' as const),
});

/** Slots of another generation are numbered differently: they say nothing about this one's. */
function slotIn(
  item: Item | undefined,
  attribute: 'slot' | 'doneSlot',
  { generation }: ShardMessage,
): number | undefined {
  const value = item?.[attribute];
  return typeof value === 'number' && item?.generation === generation ? value : undefined;
}

/** A sender that stood still between composing and sending seems to have a clock that is behind. */
const counts = (message: ShardMessage, slot: number, nowMs: number): boolean =>
  hasCome(shardOf(message), slot, nowMs) || slot > (message.seenSlot ?? Number.POSITIVE_INFINITY);

/**
 * The latest slot that is done; -1: none. Does not apply to a rescue, which is sent where beats have stopped, perhaps
 * by a schedule whose clock is behind the one that ended the slot. `nowMs` here and below: the schedule's time.
 */
export function doneSlotOf(item: Item | undefined, message: ShardMessage, nowMs: number): number {
  const done = slotIn(item, 'doneSlot', message) ?? -1;
  return counts(message, done, nowMs) ? done : -1;
}

/**
 * A later slot has begun. Its message is delivered again if necessary, but would be lost if this message's run fenced
 * the later run. A rescue belongs to no slot: the later slot's run may be the one that has died.
 */
export function isPassed(run: Item | undefined, message: ShardMessage, nowMs: number): boolean {
  const slot = slotIn(run, 'slot', message) ?? -1;
  return message.kind === 'slot' && slot > message.slot && counts(message, slot, nowMs);
}

/** RUN names a slot in the future, begun by a clock that was ahead. */
export const isAhead = (run: Item | undefined, message: ShardMessage, nowMs: number): boolean =>
  (['slot', 'doneSlot'] as const).some((attribute) => !counts(message, slotIn(run, attribute, message) ?? -1, nowMs));

/**
 * Condition on RUN: no later slot of this generation has begun. If RUN names a slot in the future, the condition is
 * that RUN has not changed.
 */
export function notPassed(run: Item | undefined, message: ShardMessage, nowMs: number): readonly Condition[] {
  const { kind, generation, slot } = message;
  if (kind !== 'slot') return [];
  if (typeof run?.token === 'number' && isAhead(run, message, nowMs))
    return [{ kind: 'equals', attribute: 'token', value: run.token }];
  return [
    {
      kind: 'anyOf',
      conditions: [
        { kind: 'absent', attribute: 'slot' },
        { kind: 'lessThan', attribute: 'slot', value: slot + 1 },
        { kind: 'notEquals', attribute: 'generation', value: generation },
      ],
    },
  ];
}

/** Clocks that differ by less count as equal: sending and receiving take time too. */
const agreeingMs = 10_000;

/**
 * How far this process's wall clock is ahead of the schedule's. 0: they agree, or the queue does not know how long the
 * message waited. Too much if the sender stood still while it sent.
 */
export function aheadOfScheduleMs(
  clock: Pick<Clock, 'nowMs'>,
  { sentAtMs }: Pick<ShardMessage, 'sentAtMs'>,
  { waitedMs }: Pick<Received, 'waitedMs'>,
): number {
  if (waitedMs === undefined) return 0;
  const aheadMs = clock.nowMs() - (sentAtMs + waitedMs);
  return Math.abs(aheadMs) > agreeingMs ? aheadMs : 0;
}
