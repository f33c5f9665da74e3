/**
 * One world after the other, in a process of its own, with some protections removed (none: the control), until an
 * invariant is violated. Its argument is a `Trial`, its last line of output a `Tried`, both as JSON.
 */
import type { Outcome } from '../simulate.ts';
import { worldReplacements } from './mutant-world.ts';
import { mutants } from './mutants.ts';
import { removals } from './removals.ts';
import { replaceFunctions } from './replace-functions.ts';
import { callsOf } from './replacement.ts';
import type { Found, Trial, Tried } from './trial.ts';

async function tryOut({ mutant, removed, seeds, hours }: Trial): Promise<Tried> {
  const world = mutants.find(({ name }) => name === mutant)?.world;
  if (!world) throw new Error(`there is no mutant '${mutant}'`);
  replaceFunctions([...removed.map((protection) => removals[protection]), ...worldReplacements(world)]);
  // Only now: what is replaced is replaced when it is loaded.
  const { simulate } = await import('../simulate.ts');
  let simulatedHours = 0;
  let found: Found | undefined;
  for (const seed of seeds) {
    const outcome = await simulate({
      seed,
      hours,
      profile: world.profile,
      world: world.setting ?? 'small',
      untilViolated: true,
    });
    found = foundIn(outcome);
    simulatedHours += found ? Math.max(1, Math.ceil(found.timeMs / hourMs)) : hours;
    if (found) break;
  }
  return { simulatedHours, calls: callsOf(), ...(found && { found }) };
}

const hourMs = 3_600_000;

/** All that was violated in the moment of the first violation; else the unexpected error. */
function foundIn({ seed, violations, problems }: Outcome): Found | undefined {
  const [first] = violations;
  const [problem] = problems;
  if (first) {
    const together = violations.filter(({ timeMs }) => timeMs === first.timeMs).map(({ invariant }) => invariant);
    return { ...first, seed, invariant: [...new Set(together)].join(' ') };
  }
  return problem === undefined ? undefined : { seed, invariant: 'problem', timeMs: 0, detail: problem };
}

const trial = JSON.parse(process.argv[2] ?? '') as Trial;
console.log(JSON.stringify(await tryOut(trial)));
