/** What notices a mutant: the unit tests that execute its place, nearest first, then the simulated product. */
import { type ChildOptions, runChild } from './child.ts';
import type { Coverage } from './coverage.ts';
import type { Mutant } from './mutant.ts';
import type { FoundBySimulation } from './sim-child.ts';
import { isMeantFor, isOfFolder } from './test-files.ts';

export type Judgement =
  | { readonly kind: 'killed'; readonly by: string }
  /** No test and no simulated hour comes to its place. */
  | { readonly kind: 'neverExecuted' }
  | { readonly kind: 'survived' };

/** Worlds in which the product lives for simulated hours. */
export type Simulation = Pick<ChildOptions, 'script'> & {
  readonly coverage: Coverage;
  readonly argsOf: (seeds: readonly number[]) => readonly string[];
};

export type Proofs = {
  readonly tests: ReadonlyMap<string, Coverage>;
  /** The engine's, then that of `npm start`. */
  readonly simulations: readonly Simulation[];
  readonly seeds: readonly number[];
};

/** Tests that are not meant for the file are asked as long as that does not take longer: some first, more at last. */
const passingBySeconds = 10;
const patientSeconds = 90;
export const cpuSecondsMax = 120;
/** Seeds that are tried before the slower tests: they notice most of what the tests that import the file do not. */
const firstSeeds = 2;

/** The cheapest first: one finding is enough, whatever else would notice the mutant. */
export async function judge(mutant: Mutant, { tests, simulations, seeds }: Proofs): Promise<Judgement> {
  const { direct, others, slower } = chosenTests(mutant, tests);
  const worlds = simulations.filter(({ coverage }) => coverage.executes(mutant));
  const by =
    (await killingTest(mutant, tests, direct)) ??
    (await killingInvariant(mutant, worlds, seeds.slice(0, firstSeeds))) ??
    (await killingTest(mutant, tests, others)) ??
    (await killingInvariant(mutant, worlds, seeds.slice(firstSeeds))) ??
    (await killingTest(mutant, tests, slower, patientSeconds));
  if (by !== undefined) return { kind: 'killed', by };
  return worlds.length + direct.length + others.length + slower.length > 0
    ? { kind: 'survived' }
    : { kind: 'neverExecuted' };
}

type Chosen = { readonly [when in 'direct' | 'others' | 'slower']: readonly string[] };

function chosenTests(mutant: Mutant, tests: Proofs['tests']): Chosen {
  const executing = [...tests]
    .filter(([, coverage]) => coverage.executes(mutant))
    .sort(([, one], [, other]) => one.seconds - other.seconds);
  const chosen: Record<keyof Chosen, string[]> = { direct: [], others: [], slower: [] };
  let seconds = 0;
  for (const [test, coverage] of executing) {
    if (isMeantFor(mutant.file, test)) chosen.direct.push(test);
    else {
      seconds += coverage.seconds;
      chosen[seconds <= passingBySeconds ? 'others' : 'slower'].push(test);
    }
  }
  chosen.slower.sort((one, other) => Number(isOfFolder(mutant.file, other)) - Number(isOfFolder(mutant.file, one)));
  return chosen;
}

/** Each test file has a process of its own: they may not share one. */
async function killingTest(
  mutant: Mutant,
  known: Proofs['tests'],
  tests: readonly string[],
  secondsMax = Number.POSITIVE_INFINITY,
): Promise<string | undefined> {
  let seconds = 0;
  for (const test of tests) {
    if (seconds > secondsMax) break;
    const usualSeconds = known.get(test)?.seconds ?? 0;
    const limits = { cpuSeconds: cpuSecondsMax, usualSeconds };
    const ended = await runChild({ script: 'unit-child.ts', args: [test], ...limits, mutant });
    if (ended.exitCode === null) return `${test} does not end`;
    if (ended.exitCode !== 0) return failedTest(ended.output);
    seconds += ended.seconds;
  }
  return undefined;
}

function failedTest(output: string): string {
  const line = output.trim().split('\n').at(-1) ?? '';
  return line.startsWith('{"test"') ? `test: ${(JSON.parse(line) as { test: string }).test}` : 'tests that do not load';
}

async function killingInvariant(
  mutant: Mutant,
  worlds: readonly Simulation[],
  seeds: readonly number[],
): Promise<string | undefined> {
  for (const { script, argsOf, coverage } of worlds) {
    const limits = { cpuSeconds: cpuSecondsMax, usualSeconds: coverage.seconds };
    const ended = await runChild({ script, args: argsOf(seeds), ...limits, mutant });
    if (ended.exitCode === null) return 'a simulation that does not end';
    if (ended.exitCode !== 0) return 'a simulation that does not load';
    const found = JSON.parse(ended.output.trim().split('\n').at(-1) ?? 'null') as FoundBySimulation | null;
    if (found) return `simulation: ${found.invariant}, seed ${found.seed}`;
  }
  return undefined;
}
