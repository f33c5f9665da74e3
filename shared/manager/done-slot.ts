/** Which slots of a shard are done, or left behind. */
import type { ShardMessage } from '../queue/queue.ts';
import type { Condition, Item } from '../store/store.ts';

/** Slots of another generation are numbered in another way: what was done of them says nothing about this one's. */
export function doneSlotOf(item: Item | undefined, message: Pick<ShardMessage, 'generation'>): number {
  const isComparable = typeof item?.doneSlot === 'number' && item.generation === message.generation;
  return isComparable ? Number(item.doneSlot) : -1;
}

/**
 * A later slot has begun: its message comes again if need be, while it would be lost if this one's run fenced its. A rescue is not of a
 * slot: it may be the later one's run that has died.
 */
export const isPassed = (run: Item | undefined, { kind, generation, slot }: ShardMessage): boolean =>
  kind === 'slot' && typeof run?.slot === 'number' && run.generation === generation && run.slot > slot;

/** Of RUN, that it is not so. */
export const notPassed = ({ kind, generation, slot }: ShardMessage): readonly Condition[] =>
  kind !== 'slot'
    ? []
    : [
        {
          kind: 'anyOf',
          conditions: [
            { kind: 'absent', attribute: 'slot' },
            { kind: 'lessThan', attribute: 'slot', value: slot + 1 },
            { kind: 'notEquals', attribute: 'generation', value: generation },
          ],
        },
      ];
