/**
 * `npm run prove [-- --slice]`: all that is claimed of hand-over, faults and self-health, measured again. Prints the
 * full figures of each part and one table of all limits. Ends with `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { exactly, type Figure, figureLines, figuresIn, scoreLine, scoreOf } from '../support/figures.ts';
import { commandOf, type Done, endAll, type Job, outputFile, progress, run } from './job.ts';
import { againJob, full, hours, isOfKeptSeeds, isOfOtherWorld, type Plan, planOf, slice } from './plan.ts';
import { repeatFigure, simFigures } from './sim-figures.ts';

const { values } = parseArgs({ options: { slice: { type: 'boolean', default: false } } });
const extent = values.slice ? slice : full;
const reportEveryMs = 60_000;

const startedMs = performance.now();
const say = (line: string) => process.stdout.write(`${line}\n`);
const minutes = () => `${((performance.now() - startedMs) / 60_000).toFixed(1).padStart(5)} min`;

async function runReported(job: Job): Promise<Done> {
  say(`${minutes()}  ${job.name} begins: ${commandOf(job)} (its output: ${outputFile(job)})`);
  const done = await run(job);
  say(`${minutes()}  ${job.name} ends: exit ${done.exitCode} after ${done.minutes.toFixed(1)} min`);
  // At once: a run that is ended before its last job would leave its reader with an exit code.
  const missed = figuresIn(done.output).filter(({ holds }) => holds === false);
  if (missed.length > 0) for (const line of figureLines(missed)) say(`           ${line}`);
  return done;
}

/** Takes the next of the jobs when one has ended. */
async function oneByOne(waiting: Job[]): Promise<readonly Done[]> {
  const done: Done[] = [];
  for (let job = waiting.shift(); job; job = waiting.shift()) done.push(await runReported(job));
  return done;
}

/** What computes is beside what waits, and two at a time afterwards: a world of one seed occupies one core only. */
async function carryOut({ alone, computing, waiting, compiling }: Plan): Promise<readonly Done[]> {
  const first = await runReported(alone);
  const jobs = [...computing];
  const afterWaiting = async () => {
    const waited = await Promise.all(waiting.map(runReported));
    const compiled = await Promise.all(compiling.map(runReported));
    return [...waited, ...compiled, ...(await oneByOne(jobs))];
  };
  return [first, ...(await Promise.all([oneByOne(jobs), afterWaiting()])).flat()];
}

/** Every command ends well, and every figure that it reports is within its limit. */
function figuresOf(all: readonly Done[]): readonly Figure[] {
  const isOfSmallWorld = (job: Job) => job !== againJob && !isOfKeptSeeds(job) && !isOfOtherWorld(job);
  const simulations = all.filter(({ job }) => job.script === 'sim' && isOfSmallWorld(job));
  const outputOf = (job: Job | undefined) => all.find((done) => done.job === job)?.output ?? '';
  const wantedHours = hours * simulations.reduce((seeds, { job }) => seeds + Number(job.args[1]), 0);
  return [
    ...all.map(({ job, exitCode }) => exactly(`exit code of ${commandOf(job)}`, exitCode ?? -1, 0)),
    ...simFigures(
      simulations.map(({ output }) => output),
      wantedHours,
    ),
    repeatFigure(outputOf(simulations[0]?.job), outputOf(againJob)),
    ...all.flatMap(({ output }) => figuresIn(output)),
  ];
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    endAll();
    process.exit(1);
  });
const reporting = setInterval(() => {
  for (const line of progress()) say(`${minutes()}    ${line}`);
}, reportEveryMs);
const all = await carryOut(planOf(extent, Math.random));
clearInterval(reporting);

for (const { job, output } of all) say(`\n== ${job.name}: ${commandOf(job)}\n${output.trimEnd()}`);
const figures = figuresOf(all);
say(`\n== all figures, after${minutes()}`);
for (const line of figureLines(figures)) say(line);
const score = scoreOf(figures);
say(`\n${scoreLine(score)}`);
process.exitCode = score.failed === 0 ? 0 : 1;
