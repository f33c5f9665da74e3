/**
 * `npm run honest [-- --steps N] [--seed N]`: registrations, findings, denials, reports, restarts and hand-overs in random order through
 * the API; after each of at least N steps nothing may be shown that was not seen. Prints its seed, the shortest failing sequence if there is
 * one, and `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { play } from './play.ts';
import { type Step, step } from './steps.ts';

const { values } = parseArgs({ options: { steps: { type: 'string', default: '10000' }, seed: { type: 'string' } } });

const stepsOfGame = 50;
const wanted = Number(values.steps);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
let taken = 0;

const property = fc.asyncProperty(fc.array(step, { minLength: stepsOfGame, maxLength: stepsOfGame }), (steps) =>
  play(steps, () => {
    taken += 1;
  }),
);
const outcome = await fc.check(property, { seed, numRuns: Math.ceil(wanted / stepsOfGame) });

const textOf = (one: Step): string => `  ${JSON.stringify(one)}`;
process.stdout.write(`seed ${seed}: ${taken} steps\n`);
if (outcome.failed) {
  const [steps = []] = outcome.counterexample ?? [];
  process.stdout.write(`${steps.map(textOf).join('\n')}\nError: ${String(outcome.errorInstance)}\n`);
}
process.stdout.write(outcome.failed ? '0 passed, 1 failed\n' : '1 passed, 0 failed\n');
process.exitCode = outcome.failed ? 1 : 0;
