/**
 * Which slots of a shard are done, or left behind. Only slots that have come count: a later one was begun by a clock that was ahead, and
 * to believe it would leave the shard alone until then. That costs no safety, since tokens keep two runs apart.
 *
 * Slots are counted by the schedule's clock. A message says when it was sent, and the queue how long it waited, so a receiver need not
 * trust its own wall clock to know the current slot.
 */

import { hasCome } from '../core/slots.ts';
import type { Clock } from '../lib/clock.ts';
import type { Received, ShardMessage } from '../queue/queue.ts';
import type { Condition, Item } from '../store/store.ts';

type Slotted = Pick<ShardMessage, 'generation' | 'buckets' | 'mode'>;

const slottedShard = ({ buckets, mode }: Pick<Slotted, 'buckets' | 'mode'>) => ({
  from: buckets.from,
  mode: mode ?? ('resident' as const),
});

/** Slots of another generation are numbered in another way: they say nothing about this one's. */
function slotIn(item: Item | undefined, attribute: 'slot' | 'doneSlot', { generation }: Slotted): number | undefined {
  const value = item?.[attribute];
  return typeof value === 'number' && item?.generation === generation ? value : undefined;
}

/**
 * The latest slot that is done; -1: none. It says nothing of a rescue, which is sent where nobody beats, perhaps by a schedule whose clock
 * is behind the one that ended the slot. `nowMs` here and below: the schedule's time.
 */
export function doneSlotOf(item: Item | undefined, message: Slotted, nowMs: number): number {
  const done = slotIn(item, 'doneSlot', message) ?? -1;
  return hasCome(slottedShard(message), done, nowMs) ? done : -1;
}

/**
 * A later slot has begun: its message comes again if need be, while it would be lost if this one's run fenced its. A rescue is not of a
 * slot: it may be the later one's run that has died.
 */
export function isPassed(run: Item | undefined, message: ShardMessage, nowMs: number): boolean {
  const slot = slotIn(run, 'slot', message) ?? -1;
  return message.kind === 'slot' && slot > message.slot && hasCome(slottedShard(message), slot, nowMs);
}

/** RUN names a slot that has not come. */
export const isAhead = (run: Item | undefined, message: Slotted, nowMs: number): boolean =>
  (['slot', 'doneSlot'] as const).some(
    (attribute) => !hasCome(slottedShard(message), slotIn(run, attribute, message) ?? -1, nowMs),
  );

/** Condition on RUN: no later slot of this generation has begun. Where one has that has not come, RUN is as it was read. */
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
