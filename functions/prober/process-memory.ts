/** What this process takes of the memory that its function or task may use. */

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

/** More than any machine has: the kernel says so where there is no limit. */
const megabytesMax = 2 ** 32;
