/**
 * Simulates an hour of each seed of its arguments, in the world that mutants live in, and prints what is violated
 * first.
 */
import { stormy } from '../sim/mutants/worlds.ts';
import { type Outcome, simulate } from '../sim/simulate.ts';

const hours = 1;

export type FoundBySimulation = { readonly seed: number; readonly invariant: string; readonly detail: string };

function foundIn({ seed, violations, problems }: Outcome): FoundBySimulation | undefined {
  const [first] = violations;
  if (first) return { seed, invariant: first.invariant, detail: first.detail };
  return problems[0] === undefined ? undefined : { seed, invariant: 'problem', detail: problems[0] };
}

async function firstFound(seeds: readonly number[]): Promise<FoundBySimulation | undefined> {
  for (const seed of seeds) {
    const found = foundIn(await simulate({ seed, hours, profile: stormy, untilViolated: true }));
    if (found) return found;
  }
  return undefined;
}

const found = await firstFound(process.argv.slice(2).map(Number));
process.stdout.write(`${JSON.stringify(found ?? null)}\n`);
