import { slotAt, slotOf } from '../../shared/core/shards/slots.ts';
import type { ShardMessage } from '../../shared/queue/queue.ts';

const onlyShard = { from: 0, mode: 'resident' } as const;

/** A message of the only shard, valid for its slot. */
export function shardMessage(given: Partial<ShardMessage> = {}): ShardMessage {
  const slot = given.slot ?? slotAt(onlyShard, Date.UTC(2030, 0, 1)).slot;
  const { beginMs, endMs } = slotOf(onlyShard, slot);
  const buckets = { from: 0, to: 256 };
  return {
    kind: 'slot',
    shard: '00',
    generation: 1,
    buckets,
    slot,
    slotEndMs: endMs,
    sentAtMs: beginMs,
    ...given,
  };
}
