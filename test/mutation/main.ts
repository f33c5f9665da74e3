/**
 * `npm run mutate -- [--seed N] [--count 500] [--from 1] [--jobs 1] [--only TEXT …]`: a random sample of all mutants of
 * shared/core, run, schedule, status-sync, table, store and alerts and of functions/local, each judged by the tests and
 * by the two simulations. Prints every survivor that verdicts.json does not explain; ends with 1 if there is one.
 */
import { parseArgs } from 'node:util';
import { chanceOf } from '../sim/chance.ts';
import { faultKinds } from '../sim/start/faults.ts';
import { sourceOf } from '../support/edited-source.ts';
import { type Coverage, coverageOf } from './coverage.ts';
import { cpuSecondsMax, type Judgement, judge, type Proofs, type Simulation } from './judge.ts';
import { type Mutant, nameOf } from './mutant.ts';
import { mutantsOf } from './operators.ts';
import type { StartOrder } from './start-child.ts';
import { judgingTests, mutatedFiles } from './test-files.ts';
import { isOf, knownVerdicts } from './verdicts.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '500' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true, default: [''] },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);
/** Of the simulation, each for an hour. */
const seeds = [1, 2, 3, 4];
/** The end of its first storm and its first calm. */
const startHours = 1.5;
const startOrder: Omit<StartOrder, 'seeds'> = { hours: startHours, kinds: faultKinds };

const all = mutatedFiles().flatMap((file) => mutantsOf(file, sourceOf(file)));
const chosen = sample(
  all.filter((mutant) => values.only.some((text) => nameOf(mutant).includes(text))),
  { seed: Number(values.seed), count: Number(values.count) },
).slice(Number(values.from) - 1);
say(`${chosen.length} of ${all.length} mutants, seed ${values.seed}`);
const verdicts = knownVerdicts();
const proofs = await proofsOf();
const judged = new Map<Mutant, Judgement>();
const waiting = [...chosen];
await Promise.all(Array.from({ length: Number(values.jobs) }, work));
process.exitCode = report() === 0 ? 0 : 1;

function sample(mutants: readonly Mutant[], { seed, count }: { readonly seed: number; readonly count: number }) {
  const chance = chanceOf(seed, 'mutants');
  const drawn = mutants.map((mutant) => ({ mutant, lot: chance.next() })).sort((one, other) => one.lot - other.lot);
  return drawn.slice(0, count).map(({ mutant }) => mutant);
}

async function proofsOf(): Promise<Proofs> {
  const tests = new Map<string, Coverage>();
  const files = [...judgingTests()];
  const cover = async () => {
    for (let test = files.shift(); test !== undefined; test = files.shift()) {
      const coverage = await passingCoverage(test);
      if (coverage) tests.set(test, coverage);
      else say(`not asked, since it fails without any mutant: ${test}`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, cover));
  say(`${tests.size} test files`);
  const engine = await simulationOf('sim-child.ts', (chosen) => chosen.map(String));
  const start = await simulationOf('start-child.ts', (chosen) => [JSON.stringify({ ...startOrder, seeds: chosen })]);
  return { tests, simulations: [engine, start], seeds };
}

/** Other work of the machine may make a test fail that watches real time, so each has two tries. */
async function passingCoverage(test: string): Promise<Coverage | undefined> {
  const options = { script: 'unit-child.ts', args: [test], cpuSeconds: cpuSecondsMax } as const;
  return (await coverageOf(options)) ?? (await coverageOf(options));
}

async function simulationOf(script: Simulation['script'], argsOf: Simulation['argsOf']): Promise<Simulation> {
  const args = argsOf(seeds.slice(0, 3));
  const coverage = await coverageOf({ script, args, cpuSeconds: cpuSecondsMax });
  if (!coverage) throw new Error(`${script} fails without any mutant`);
  return { script, argsOf, coverage };
}

async function work(): Promise<void> {
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    const judgement = await judge(mutant, proofs);
    judged.set(mutant, judgement);
    const what = judgement.kind === 'killed' ? `killed by ${judgement.by}` : judgement.kind;
    say(`${judged.size}/${chosen.length} ${nameOf(mutant)}: ${what}`);
  }
}

/** How many survivors have no explanation. */
function report(): number {
  const survivors = chosen.filter((mutant) => judged.get(mutant)?.kind !== 'killed');
  const unexplained = survivors.filter((mutant) => !verdicts.some((verdict) => isOf(mutant, verdict)));
  const killed = chosen.length - survivors.length;
  say('');
  for (const mutant of unexplained) say(`${judged.get(mutant)?.kind}: ${nameOf(mutant)}`);
  say(`killed ${killed} of ${chosen.length}, ${survivors.length} survive, ${unexplained.length} of them unexplained`);
  say(`${chosen.length - unexplained.length} passed, ${unexplained.length} failed`);
  return unexplained.length;
}
