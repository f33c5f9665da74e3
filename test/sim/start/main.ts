/**
 * `npm run sim:start -- --seeds N --hours H [--seed FIRST] [--faults KIND,…]`: N worlds of `npm start` with different
 * seeds, one after the other. Ends with 1 after any violation.
 */
import { parseArgs } from 'node:util';
import { type FaultKind, faultKinds } from './faults.ts';
import { simulateStart } from './simulate.ts';

const seedsMax = 1_000_000;
const hoursMax = 10_000;
const seedMax = 2 ** 32 - 1;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' },
    hours: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
    faults: { type: 'string', default: faultKinds.join(',') },
  },
});
const seeds = wholeNumber('seeds', values.seeds, [1, seedsMax]);
const hours = wholeNumber('hours', values.hours, [1, hoursMax]);
const first = wholeNumber('seed', values.seed, [0, seedMax]);
const kinds = values.faults
  .split(',')
  .filter((kind) => kind !== '')
  .map(faultKind);

let failed = 0;
for (let seed = first; seed < first + seeds; seed += 1) {
  const { violations, faults, reached, traceHash } = await simulateStart({ seed, hours, kinds });
  const bounds = Object.entries(reached).map(([bound, count]): [string, number] => [`bus ${bound}`, count]);
  const counts = [...faults, ...bounds].map(([kind, count]) => `${kind} ${count}`).join(', ');
  console.log(`seed ${seed}: ${violations.length} violations, trace ${traceHash}; ${counts}`);
  for (const { invariant, timeMs, detail } of violations)
    console.log(`  after ${Math.round(timeMs / 1_000)} s: ${invariant}: ${detail}`);
  if (violations.length === 0) continue;
  failed += 1;
  const chosen = values.faults === faultKinds.join(',') ? '' : ` --faults '${values.faults}'`;
  console.log(`  repeat: npm run sim:start -- --seeds 1 --hours ${hours} --seed ${seed}${chosen}`);
}
console.log(`${seeds - failed} passed, ${failed} failed`);
// Threads of processes that lost their power are left.
process.exit(failed === 0 ? 0 : 1);

function wholeNumber(name: string, text: string, [low, high]: readonly [number, number]): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= low && number <= high) return number;
  console.error(`--${name} wants a whole number from ${low} to ${high}, not '${text}'`);
  process.exit(2);
}

function faultKind(text: string): FaultKind {
  const kind = faultKinds.find((each) => each === text);
  if (kind !== undefined) return kind;
  console.error(`--faults wants any of ${faultKinds.join(',')}, not '${text}'`);
  process.exit(2);
}
