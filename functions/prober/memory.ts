/** What a warm process may go on with: the shard that it held last, and no other, or its memory would fill with all it ever held. */
import type { ShardMemory } from '../../shared/manager/shard-memory.ts';

export function onlyOf(memory: ShardMemory, shard: string): ShardMemory {
  for (const held of memory.keys()) if (held !== shard) memory.delete(held);
  return memory;
}
