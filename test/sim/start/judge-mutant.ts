/** Whether what is meant to notice a mutant does so, and nothing without the mutant. */
import { type ChildEnd, type ChildOptions, runChild } from '../../mutation/child.ts';
import type { FoundAtStart, StartOrder } from '../../mutation/start-child.ts';
import { type Edit, sourceOf } from '../../support/edited-source.ts';
import type { Verdict } from '../mutants/judge.ts';
import type { Change, Noticing, StartMutant } from './mutants.ts';

const cpuSeconds = 300;
const hourMs = 3_600_000;

export async function judgeStartMutant(mutant: StartMutant): Promise<Verdict> {
  const { name, by } = mutant;
  const edit = editOf(mutant.change);
  const noticed = 'tests' in by ? await byTests(by.tests, edit) : await bySimulation(by, edit);
  return { mutant: name, simulatedHours: 0, ...noticed };
}

/** @throws Error: the text has to be there once. */
export function editOf({ file, from, to }: Change): Edit {
  const source = sourceOf(file);
  const start = source.indexOf(from);
  if (start === -1 || source.includes(from, start + 1)) throw new Error(`${file} has to have this once: ${from}`);
  return { file, start, end: start + from.length, replacement: to };
}

type Noticed = Pick<Verdict, 'passed' | 'killedBy' | 'problem'> & Partial<Pick<Verdict, 'simulatedHours'>>;

async function byTests(tests: readonly string[], mutant: Edit): Promise<Noticed> {
  const options = { script: 'unit-child.ts', args: tests, cpuSeconds } as const;
  const test = failedTest(await runChild({ ...options, mutant }));
  if (test === undefined) return { passed: false, problem: 'no test fails' };
  const without = await runChild(options);
  if (without.exitCode !== 0) return { passed: false, problem: `without the mutant, too: ${without.output}` };
  return { passed: true, killedBy: { invariant: 'test', seed: 0, timeMs: 0, detail: test } };
}

const failedTest = ({ exitCode, output }: ChildEnd): string | undefined =>
  exitCode === 0 ? undefined : output.trim().split('\n').at(-1);

async function bySimulation(
  { seeds, ...order }: Exclude<Noticing, { tests: unknown }>,
  mutant: Edit,
): Promise<Noticed> {
  let found: FoundAtStart | undefined;
  for (const seed of seeds) {
    const one = await firstFound({ ...order, seeds: [seed] }, { mutant });
    if (typeof one === 'string') return { passed: false, problem: one };
    found = one;
    if (found) break;
  }
  if (!found) return { passed: false, problem: 'it survives', simulatedHours: order.hours * seeds.length };
  const hours = Math.max(1, Math.ceil(found.timeMs / hourMs));
  const without = await firstFound({ ...order, hours, seeds: [found.seed] }, {});
  if (without) return { passed: false, problem: `without the mutant, too: ${JSON.stringify(without)}` };
  const before = seeds.indexOf(found.seed) * order.hours;
  return { passed: true, killedBy: found, simulatedHours: before + hours };
}

async function firstFound(
  order: StartOrder,
  options: Pick<ChildOptions, 'mutant'>,
): Promise<FoundAtStart | string | undefined> {
  const ended = await runChild({ script: 'start-child.ts', args: [JSON.stringify(order)], cpuSeconds, ...options });
  if (ended.exitCode !== 0) return `the simulation ended with ${ended.exitCode}: ${ended.errors.slice(0, 400)}`;
  return JSON.parse(ended.output.trim().split('\n').at(-1) ?? 'null') ?? undefined;
}
