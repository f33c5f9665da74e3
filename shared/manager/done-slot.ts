/** Which slots of a shard are done. */
import type { ShardMessage } from '../queue/queue.ts';
import type { Item } from '../store/store.ts';

/** Slots of another generation are numbered in another way: what was done of them says nothing about this one's. */
export function doneSlotOf(item: Item | undefined, message: Pick<ShardMessage, 'generation'>): number {
  const isComparable = typeof item?.doneSlot === 'number' && item.generation === message.generation;
  return isComparable ? Number(item.doneSlot) : -1;
}
