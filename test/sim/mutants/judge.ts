/**
 * What becomes of a mutant. It is killed by the first violation that its world does not show without the mutation; a
 * pair by one that it does not show with either protection alone.
 */
import type { Mutant } from './mutants.ts';
import { runTrial } from './run-trial.ts';
import type { Found, Tried } from './trial.ts';

export type Verdict = {
  readonly mutant: string;
  readonly passed: boolean;
  /** What has killed it; undefined: it has survived. */
  readonly killedBy?: Found;
  /** In all worlds that it was tried in. */
  readonly simulatedHours: number;
  readonly maskedBy?: string;
  /** Why it has not passed. */
  readonly problem?: string;
};

export async function judge(mutant: Mutant): Promise<Verdict> {
  const { name, removed, maskedBy, hours } = mutant;
  const known = { mutant: name, ...(maskedBy !== undefined && { maskedBy }) };
  const fresh = new Set(mutant.seeds);
  let simulatedHours = 0;
  for (;;) {
    const tried = await runTrial({ mutant: name, removed, seeds: [...fresh], hours });
    if (typeof tried === 'string') return { ...known, passed: false, simulatedHours, problem: tried };
    simulatedHours += tried.simulatedHours;
    const problem = problemOf(tried);
    if (problem !== undefined) return { ...known, passed: false, simulatedHours, problem };
    const { found } = tried;
    if (!found) return survived(mutant, { ...known, simulatedHours });
    const excused = await excuse(mutant, found);
    if (excused === undefined) return { ...known, passed: true, killedBy: found, simulatedHours };
    // Only what comes after this seed is left to be tried.
    for (const seed of fresh) {
      fresh.delete(seed);
      if (seed === found.seed) break;
    }
    if (fresh.size === 0) return { ...known, passed: false, simulatedHours, problem: excused };
  }
}

function survived({ maskedBy }: Mutant, verdict: Omit<Verdict, 'passed'>): Verdict {
  return maskedBy === undefined ? { ...verdict, passed: false, problem: 'it survives' } : { ...verdict, passed: true };
}

/** A mutant whose code did not run, or that broke by itself, proves nothing. */
export function problemOf({ calls, found }: Tried): string | undefined {
  // What is noticed before the first fault needs nothing of its world.
  const isNeeded = (replaced: string) => !found || !replaced.startsWith('test/sim/');
  const never = Object.entries(calls).find(([replaced, count]) => count === 0 && isNeeded(replaced));
  if (never) return `${never[0]} was never called`;
  return found?.detail.includes(ownPath) ? `it broke by itself: ${found.detail}` : undefined;
}

const ownPath = 'test/sim/mutants/';

/** Why what was found is not the mutant's doing; undefined: it is. */
async function excuse({ name, removed, aloneToo }: Mutant, { seed, timeMs }: Found): Promise<string | undefined> {
  const hours = Math.max(1, Math.ceil(timeMs / hourMs));
  const controls = removed.length > 1 && !aloneToo ? [[], ...removed.map((protection) => [protection])] : [[]];
  for (const control of controls) {
    const tried = await runTrial({ mutant: name, removed: control, seeds: [seed], hours });
    const lacking = control.length === 0 ? 'nothing removed' : `'${control.join()}' alone`;
    if (typeof tried === 'string') return `with ${lacking}: ${tried}`;
    if (tried.found) return `with ${lacking}, too: ${tried.found.invariant} at seed ${seed}: ${tried.found.detail}`;
  }
  return undefined;
}

const hourMs = 3_600_000;
