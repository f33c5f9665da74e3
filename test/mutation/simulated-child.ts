/** A process that simulates the seeds of its arguments, one after the other, and prints what is violated first. */
import { reportCpuAtExit } from './cpu-mark.ts';

export type FoundBySimulation = { readonly seed: number; readonly invariant: string; readonly detail: string };

type Find = (seed: number) => Promise<FoundBySimulation | undefined>;

export async function printFirstFound(find: Find): Promise<void> {
  reportCpuAtExit();
  process.stdout.write(`${JSON.stringify((await firstFound(find)) ?? null)}\n`);
}

async function firstFound(find: Find): Promise<FoundBySimulation | undefined> {
  for (const seed of process.argv.slice(2).map(Number)) {
    const found = await find(seed);
    if (found) return found;
  }
  return undefined;
}
