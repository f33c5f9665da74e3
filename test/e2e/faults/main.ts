/**
 * `npm run e2e:faults [-- --only NAME,NAME] [--slice]`: faults that no simulation can show, on the real network, kernel
 * and clock of this machine. Most steps wait, so they run side by side, except those that measure lateness. Ends with
 * `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { type Figure, figureLines, judged, scoreLine, scoreOf } from '../../support/figures.ts';
import { eventsStep } from './events/step.ts';
import { hangingStep } from './hanging.ts';
import { massStep } from './mass.ts';
import { networkStep } from './network/step.ts';
import { reloadStep } from './reload.ts';
import { stallStep } from './stall.ts';
import type { Length, Step } from './step.ts';
import { uncountedStep } from './uncounted.ts';

const steps: readonly Step[] = [networkStep, hangingStep, reloadStep, massStep, uncountedStep, eventsStep, stallStep];
const names = steps.map(({ name }) => name);

const { values } = parseArgs({ options: { only: { type: 'string' }, slice: { type: 'boolean', default: false } } });
const chosen = values.only === undefined ? names : values.only.split(',');
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`--only: ${unknown.join(', ')} is none of ${names.join(', ')}\n`);
  process.exit(2);
}

const say = (line: string) => process.stdout.write(`${line}\n`);

/** An error of a step is a failure: a fault that was not tried is not survived. */
async function run(step: Step, length: Length): Promise<readonly Figure[]> {
  const startedMs = performance.now();
  const figures = await step.run(length).catch((error: unknown): readonly Figure[] => {
    say(`${step.name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return [judged(step.name, 'could not be measured', { limit: 'measured', holds: false })];
  });
  say(`\n${step.title} (${((performance.now() - startedMs) / 1000).toFixed(0)} s)`);
  for (const line of figureLines(figures)) say(line);
  return figures;
}

const length: Length = values.slice ? 'slice' : 'full';
const wanted = steps.filter(({ name }) => chosen.includes(name));
const alone = wanted.filter((step) => step.alone);
const sideBySide = wanted.filter((step) => !step.alone);
const namesOf = (some: readonly Step[]): string => some.map(({ name }) => name).join(', ') || 'nothing';
say(`${length}: first ${namesOf(alone)}, then side by side ${namesOf(sideBySide)}`);
const found: (readonly Figure[])[] = [];
for (const step of alone) found.push(await run(step, length));
found.push(...(await Promise.all(sideBySide.map((step) => run(step, length)))));
const score = scoreOf(found.flat());
say(`\n${scoreLine(score)}`);
process.exit(score.failed === 0 ? 0 : 1);
