/**
 * Limits the memory of a warm process to the shard that it held last. Otherwise it would grow with every shard it ever
 * held.
 */
import type { ShardMemory } from '../../shared/holder/shard-run.ts';

export function onlyOf(memory: ShardMemory, shard: string): ShardMemory {
  for (const held of memory.keys()) if (held !== shard) memory.delete(held);
  return memory;
}
