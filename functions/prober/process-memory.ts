/** The memory of a warm process: its use of the limit of its function or task, and the shards that it remembers. */
import type { ShardMemory } from '../../shared/holder/shard-run.ts';

export type ProcessMemory = { readonly usedMb: number; readonly limitMb: number };

const mib = 1_048_576;

/**
 * @param functionMb of AWS_LAMBDA_FUNCTION_MEMORY_SIZE; a task has none, and the limit of its control group counts
 * @returns undefined where nothing limits the process
 */
export function processMemory(functionMb = process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE): ProcessMemory | undefined {
  const limitMb = functionMb ? Number(functionMb) : process.constrainedMemory() / mib;
  if (!(limitMb > 0 && limitMb < megabytesMax)) return undefined;
  return { usedMb: Math.ceil(process.memoryUsage.rss() / mib), limitMb };
}

/** More memory than any machine has. The kernel reports such a number if there is no limit. */
const megabytesMax = 2 ** 32;

/** Forgets all shards but the one held last, so that a warm process does not grow with every shard that it held. */
export function onlyOf(memory: ShardMemory, shard: string): ShardMemory {
  for (const held of memory.keys()) if (held !== shard) memory.delete(held);
  return memory;
}
