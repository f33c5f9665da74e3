/** What notices a mutant: the unit tests that execute its place, nearest first, then the simulated product. */
import { runChild } from './child.ts';
import type { Coverage } from './coverage.ts';
import type { Mutant } from './mutant.ts';
import type { FoundBySimulation } from './sim-child.ts';
import { isMeantFor } from './test-files.ts';

export type Judgement =
  | { readonly kind: 'killed'; readonly by: string }
  /** No test and no simulated hour comes to its place. */
  | { readonly kind: 'neverExecuted' }
  | { readonly kind: 'survived' };

export type Proofs = {
  readonly tests: ReadonlyMap<string, Coverage>;
  readonly simulation: Coverage;
  readonly seeds: readonly number[];
};

/** Tests that are not meant for the file are asked as long as that does not take longer. */
const passingBySeconds = 10;
const unitCpuSeconds = 60;
export const simulationCpuSeconds = 120;
/** Seeds that are tried before the slower tests: they notice most of what the tests that import the file do not. */
const firstSeeds = 2;

/** The cheapest first: one finding is enough, whatever else would notice the mutant. */
export async function judge(mutant: Mutant, { tests, simulation, seeds }: Proofs): Promise<Judgement> {
  const { direct, others } = chosenTests(mutant, tests);
  const isSimulated = simulation.executes(mutant);
  const simulated = (chosen: readonly number[]) => (isSimulated ? killingInvariant(mutant, chosen) : undefined);
  const by =
    (await killingTest(mutant, direct)) ??
    (await simulated(seeds.slice(0, firstSeeds))) ??
    (await killingTest(mutant, others)) ??
    (await simulated(seeds.slice(firstSeeds)));
  if (by !== undefined) return { kind: 'killed', by };
  return isSimulated || direct.length + others.length > 0 ? { kind: 'survived' } : { kind: 'neverExecuted' };
}

type Chosen = { readonly direct: readonly string[]; readonly others: readonly string[] };

function chosenTests(mutant: Mutant, tests: Proofs['tests']): Chosen {
  const executing = [...tests]
    .filter(([, coverage]) => coverage.executes(mutant))
    .sort(([, one], [, other]) => one.seconds - other.seconds);
  const direct = executing.flatMap(([test]) => (isMeantFor(mutant.file, test) ? [test] : []));
  const others: string[] = [];
  let seconds = 0;
  for (const [test, coverage] of executing) {
    if (direct.includes(test)) continue;
    seconds += coverage.seconds;
    if (seconds > passingBySeconds) break;
    others.push(test);
  }
  return { direct, others };
}

async function killingTest(mutant: Mutant, tests: readonly string[]): Promise<string | undefined> {
  if (tests.length === 0) return undefined;
  const ended = await runChild({ script: 'unit-child.ts', args: tests, cpuSeconds: unitCpuSeconds, mutant });
  if (ended.exitCode === 0) return undefined;
  if (ended.exitCode === null) return 'unit tests that do not end';
  const line = ended.output.trim().split('\n').at(-1) ?? '';
  return line.startsWith('{"test"') ? `test: ${(JSON.parse(line) as { test: string }).test}` : 'tests that do not load';
}

async function killingInvariant(mutant: Mutant, seeds: readonly number[]): Promise<string | undefined> {
  const args = seeds.map(String);
  const ended = await runChild({ script: 'sim-child.ts', args, cpuSeconds: simulationCpuSeconds, mutant });
  if (ended.exitCode === null) return 'a simulation that does not end';
  if (ended.exitCode !== 0) return 'a simulation that does not load';
  const found = JSON.parse(ended.output.trim().split('\n').at(-1) ?? 'null') as FoundBySimulation | null;
  return found ? `simulation: ${found.invariant}, seed ${found.seed}` : undefined;
}
