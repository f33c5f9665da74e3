import type { ShardMessage } from '../../shared/queue/queue.ts';

const slotMs = 13 * 60_000;

/** A message of the only shard, valid for its slot. */
export function shardMessage(given: Partial<ShardMessage> = {}): ShardMessage {
  const slot = given.slot ?? Math.floor(Date.UTC(2030, 0, 1) / slotMs);
  const slotEndMs = (slot + 1) * slotMs;
  const buckets = { from: 0, to: 256 };
  return {
    kind: 'slot',
    shard: '00',
    generation: 1,
    buckets,
    slot,
    slotEndMs,
    sentAtMs: slotEndMs - slotMs,
    ...given,
  };
}
