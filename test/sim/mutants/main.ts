/**
 * `npm run sim:mutants -- [--only NAME] [--slice] [--output json]`: every mutant in worlds that have to kill it; those
 * of what only `npm start` has in its world, or by the tests that are meant for it. A slice has some of the first by
 * chance. Ends with 1 when one survives that should not, was never called, or broke by itself.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { systemRandom } from '../../../shared/lib/random.ts';
import { shuffled } from '../../fuzz-peers/kind.ts';
import { judgeStartMutant } from '../start/judge-mutant.ts';
import { startMutants } from '../start/mutants.ts';
import { judge, type Verdict } from './judge.ts';
import { mutants } from './mutants.ts';
import { tableOf } from './verdict-table.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    slice: { type: 'boolean', default: false },
    output: { type: 'string', default: 'text' },
  },
});

/** With each change others. */
const mutantsOfSlice = 16;

const ofEngine = mutants.map((mutant) => ({ name: mutant.name, verdict: () => judge(mutant) }));
const ofStart = startMutants.map((mutant) => ({ name: mutant.name, verdict: () => judgeStartMutant(mutant) }));
const all = values.slice ? ofEngine : [...ofEngine, ...ofStart];
const named = all.filter(({ name }) => values.only === undefined || name === values.only);
const chosen = values.slice ? shuffled(named, systemRandom).slice(0, mutantsOfSlice) : named;
if (chosen.length === 0) {
  console.error(`there is no mutant '${values.only}'`);
  process.exit(2);
}

const verdicts = new Map<string, Verdict>();
const waiting = [...chosen];

async function work(): Promise<void> {
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    const verdict = await mutant.verdict();
    verdicts.set(mutant.name, verdict);
    if (values.output === 'text') console.error(`${verdicts.size}/${chosen.length} ${mutant.name}`);
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, work));

const inOrder = chosen.flatMap(({ name }) => verdicts.get(name) ?? []);
const failed = inOrder.filter(({ passed }) => !passed).length;
if (values.output === 'json') console.log(JSON.stringify(inOrder, undefined, 2));
else for (const line of tableOf(inOrder)) console.log(line);
console.log(`${inOrder.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
