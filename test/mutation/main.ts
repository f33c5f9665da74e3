/**
 * `npm run mutate -- [--seed N] [--count 500] [--from 1] [--jobs 1] [--only TEXT]`: a random sample of all mutants of
 * shared/core, run, schedule, status-sync and table, each judged by the tests and by the simulation. Prints every
 * survivor that verdicts.json does not explain; ends with 1 if there is one.
 */
import { parseArgs } from 'node:util';
import { chanceOf } from '../sim/chance.ts';
import { sourceOf } from '../support/edited-source.ts';
import { type Coverage, coverageOf } from './coverage.ts';
import { type Judgement, judge, type Proofs, simulationCpuSeconds } from './judge.ts';
import { type Mutant, nameOf } from './mutant.ts';
import { mutantsOf } from './operators.ts';
import { judgingTests, mutatedFiles } from './test-files.ts';
import { isOf, knownVerdicts } from './verdicts.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '500' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);
/** Of the simulation, each for an hour. */
const seeds = [1, 2, 3, 4];
const coverageCpuSeconds = 120;

const all = mutatedFiles().flatMap((file) => mutantsOf(file, sourceOf(file)));
const chosen = sample(
  all.filter((mutant) => nameOf(mutant).includes(values.only)),
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
  for (const test of judgingTests())
    tests.set(test, await coverageOf({ script: 'unit-child.ts', args: [test], cpuSeconds: coverageCpuSeconds }));
  say(`${tests.size} test files`);
  const args = seeds.slice(0, 3).map(String);
  const simulation = await coverageOf({ script: 'sim-child.ts', args, cpuSeconds: simulationCpuSeconds });
  return { tests, simulation, seeds };
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
