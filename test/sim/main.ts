/**
 * `npm run sim -- --seeds N --hours H [--world NAME] [--seed FIRST] [--jobs J] [--replay FILE] [--output json]
 * [--crashpoints]`: N worlds with different seeds, J at a time. Ends with 1 after any violation; such a seed is kept in
 * seeds.json, tests repeat its first hour, and `--kept` repeats all kept seeds in full, or `--seeds N` of them by
 * chance. `--replay` writes the trace of a single seed to a file.
 */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { systemRandom } from '../../shared/lib/random.ts';
import { shuffled } from '../fuzz-peers/kind.ts';
import { keepSeed, keptSeeds } from './kept-seeds.ts';
import { type Options, optionsOf } from './options.ts';
import { crashPointLines, json, repeatCommand, seedLine, table, violationLines } from './report.ts';
import { type SeedOrder, simulateAll } from './seed-threads.ts';
import { type Outcome, simulate } from './simulate.ts';
import { countViolations, newTotal, type Total } from './total.ts';

const asked = optionsOf(process.argv.slice(2));
if (asked.kind === 'refused') {
  console.error(asked.why);
  process.exit(2);
}
const { options } = asked;
/** JSON has the standard output for itself. */
const say = options.output === 'json' ? console.error : console.log;
const total = newTotal();
const orders = options.kept ? someKept(options) : firstSeeds(options);

if (options.replay !== undefined) take(await replayed(options, options.replay));
else await simulateAll(orders, { jobs: options.jobs, onOutcome: take, onProgress: showProgress });

const cpu = process.cpuUsage();
const cpuSeconds = (cpu.user + cpu.system) / 1e6;
if (options.output === 'json') console.log(JSON.stringify(json(total, cpuSeconds), undefined, 2));
else for (const line of ['', ...table(total, cpuSeconds)]) console.log(line);
if (options.crashpoints) for (const line of crashPointLines(total)) say(line);
process.exitCode = total.violations === 0 ? 0 : 1;

function firstSeeds({ seeds, first, hours, world }: Options): readonly SeedOrder[] {
  return Array.from({ length: seeds }, (_, index) => ({ seed: first + index, hours, world }));
}

function someKept({ seeds, first }: Options): readonly SeedOrder[] {
  const all = keptSeeds().filter(({ seed }) => seed >= first);
  return shuffled(all, systemRandom).slice(0, seeds);
}

function take(outcome: Outcome): void {
  total.add(outcome);
  clearProgress();
  say(seedLine(outcome));
  if (countViolations(outcome) === 0) return;
  const problem = violationLines(outcome);
  for (const line of problem) say(line);
  say(`  repeat: ${repeatCommand(outcome)}`);
  const { seed, hours, world } = outcome;
  keepSeed({ seed, hours, ...(world !== 'small' && { world }), found: problem[0]?.trim().split('\n')[0] ?? '' });
}

async function replayed({ first: seed, hours, world }: Options, file: string): Promise<Outcome> {
  const lines = createWriteStream(file);
  const outcome = await simulate({ seed, hours, world, onLine: (line) => void lines.write(`${line}\n`) });
  lines.end();
  await finished(lines);
  return outcome;
}

function showProgress(done: number): void {
  if (!process.stderr.isTTY) return;
  clearProgress();
  process.stderr.write(progressOf(total, done, options));
}

function progressOf({ violations }: Total, done: number, { jobs }: Options): string {
  const minutes = (process.uptime() / 60 / done) * (orders.length - done);
  return `${done} of ${orders.length} seeds, ${jobs} at a time, ${violations} violations, ${minutes.toFixed(0)} min left`;
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}
