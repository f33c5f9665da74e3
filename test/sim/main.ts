/**
 * `npm run sim -- --seeds N --hours H [--seed FIRST] [--replay FILE]`: so many worlds, one after the other, each with another seed. Ends with 1
 * when any invariant was violated; such a seed is kept in seeds.json, and every later test run tries it again. `--replay` writes the trace
 * of one seed, line by line, to a file.
 */
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { add, newTotal, repeatCommand, seedLine, table, violationLines } from './report.ts';
import { simulate } from './simulate.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' },
    hours: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
    replay: { type: 'string' },
    crashpoints: { type: 'boolean', default: false },
  },
});

const wholeNumber = (name: 'seeds' | 'hours' | 'seed'): number => {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  console.error(`--${name} wants a whole number, not '${values[name]}'`);
  process.exit(2);
};
const [seeds, hours, first] = [wholeNumber('seeds'), wholeNumber('hours'), wholeNumber('seed')];

const total = newTotal();
for (let seed = first; seed < first + seeds; seed += 1) {
  const lines = values.replay === undefined ? undefined : createWriteStream(values.replay);
  const outcome = await simulate({ seed, hours, ...(lines && { onLine: (line) => void lines.write(`${line}\n`) }) });
  lines?.end();
  add(total, outcome);
  console.log(seedLine(outcome));
  const trouble = violationLines(outcome);
  if (trouble.length === 0) continue;
  for (const line of trouble) console.log(line);
  console.log(`  repeat: ${repeatCommand(outcome)}`);
  keep({ seed, hours, found: trouble[0]?.trim().split('\n')[0] ?? '' });
}

console.log('');
for (const line of table(total)) console.log(line);
if (values.crashpoints)
  for (const [name, { passed, struck }] of [...total.crashPoints].sort()) console.log(`${struck}/${passed} ${name}`);
process.exitCode = total.violations === 0 ? 0 : 1;

type Kept = { readonly seed: number; readonly hours: number; readonly found: string };

function keep(failing: Kept): void {
  const path = new URL('./seeds.json', import.meta.url);
  const kept = JSON.parse(readFileSync(path, 'utf8')) as readonly Kept[];
  if (kept.some(({ seed, hours }) => seed === failing.seed && hours === failing.hours)) return;
  writeFileSync(path, `${JSON.stringify([...kept, failing], undefined, 2)}\n`);
}
