/**
 * `npm run honest [-- --steps N] [--seed N]`: at least N registrations, findings, denials, reports, restarts and
 * hand-overs in random order through the API, after the kept sequences. After each step only what was seen may be shown
 * or published. Prints its seed, a failing sequence in short form, which it keeps, and `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { keepFailing, keptFailing } from './kept.ts';
import { play } from './play.ts';
import { type Failing, foundIn, shortest } from './shortest.ts';
import { step } from './steps.ts';

const { values } = parseArgs({ options: { steps: { type: 'string', default: '10000' }, seed: { type: 'string' } } });

const stepsOfGame = 50;
const wanted = Number(values.steps);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));

const tell = ({ steps, found }: Failing): void => {
  process.stdout.write(`${steps.map((one) => `  ${JSON.stringify(one)}`).join('\n')}\nError: ${found}\n`);
};

async function replayed(): Promise<number> {
  let failed = 0;
  for (const { steps } of keptFailing()) {
    const found = await foundIn(steps);
    if (found === undefined) continue;
    failed += 1;
    tell({ steps, found });
  }
  return failed;
}

async function searched(): Promise<number> {
  let taken = 0;
  const property = fc.asyncProperty(fc.array(step, { minLength: stepsOfGame, maxLength: stepsOfGame }), (steps) =>
    play(steps, () => {
      taken += 1;
    }),
  );
  const outcome = await fc.check(property, { seed, numRuns: Math.ceil(wanted / stepsOfGame), endOnFailure: true });
  process.stdout.write(`seed ${seed}: ${taken} steps\n`);
  if (!outcome.failed) return 0;
  const [steps = []] = outcome.counterexample ?? [];
  const failing = await shortest(steps);
  tell(failing);
  keepFailing({ seed, ...failing });
  return 1;
}

const games = keptFailing().length + 1;
const failed = (await replayed()) + (await searched());
process.stdout.write(`${games - failed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
