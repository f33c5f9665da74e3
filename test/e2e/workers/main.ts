/**
 * Worker processes on DynamoDB Local and an emulator's SQS, behind proxies that break calls: killed, stopped, replaced.
 * Usage: npm run e2e:workers -- [--kills N] [--handovers N] [--computes N] [--releases N] [--pairs N] [--seed S].
 * `computes`: rounds of function to tasks and back. `releases`: 1, or 0 for none; it mostly waits, beside the others.
 * Ends with `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { startDynamodbLocal } from '../../support/dynamodb-local.ts';
import { figureLines, scoreLine, scoreOf } from '../../support/figures.ts';
import { startMinistack } from '../../support/ministack.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { changeComputes } from './computes.ts';
import { handOver } from './handovers.ts';
import { type KillsOutcome, killHolders } from './kills.ts';
import { startProbed } from './probed.ts';
import { changeReleases } from './releases.ts';
import { computesReport, handoverReport, killReport, type Report, releasesReport } from './report.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    handovers: { type: 'string', default: '1000' },
    computes: { type: 'string', default: '1' },
    releases: { type: 'string', default: '1' },
    pairs: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
});
const [kills, handovers, rounds] = [Number(values.kills), Number(values.handovers), Number(values.computes)];
const seed = Number(values.seed);
const pairs = Math.max(1, Math.min(Number(values.pairs), kills));
/** One SIGSTOP beside so many kills. */
const killsPerPause = 10;

const startedMs = performance.now();
const seconds = () => (performance.now() - startedMs) / 1_000;
const print = (line: string) => process.stdout.write(`${line}\n`);
const say = (line: string) => print(`${seconds().toFixed(0).padStart(5)} s  ${line}`);

say(`seed ${seed}: ${kills} kills in ${pairs} pairs, ${handovers} hand-overs, ${rounds} changes of compute and back`);
const services = { dynamodb: await startDynamodbLocal(), sqs: await startMinistack() };
const probed = await startProbed();
let reports: readonly Report[] = [];
try {
  reports = (await Promise.all([oneByOne(), releases()])).flat();
} finally {
  await Promise.all([services.dynamodb.stop(), services.sqs.stop(), probed.close()]);
}
const figures = reports.flatMap((report) => report.figures);
const score = scoreOf(figures);
for (const line of [...reports.flatMap(({ lines }) => lines), ...figureLines(figures)]) print(line);
print(`seed ${seed}, ${(seconds() / 60).toFixed(1)} min`);
print(scoreLine(score));
process.exit(score.failed === 0 ? 0 : 1);

async function oneByOne(): Promise<readonly Report[]> {
  const done: Report[] = [];
  const options = () => ({ services, probed, random: seededRandom(seed), say });
  if (kills > 0) done.push(killReport(await allPairs()));
  if (handovers > 0) done.push(handoverReport(await handOver({ ...options(), handovers })));
  if (rounds > 0) done.push(computesReport(await changeComputes({ ...options(), rounds })));
  return done;
}

async function releases(): Promise<readonly Report[]> {
  if (values.releases === '0') return [];
  return [releasesReport(await changeReleases({ services, say }))];
}

function allPairs(): Promise<readonly KillsOutcome[]> {
  const upTo = (pair: number) => Math.floor((kills * pair) / pairs);
  const outcomes = Array.from({ length: pairs }, (_, pair) => {
    const own = upTo(pair + 1) - upTo(pair);
    const random = seededRandom(seed + pair);
    const pauses = Math.ceil(own / killsPerPause);
    return killHolders({ services, probed, random, name: `pair-${pair}`, kills: own, pauses, say });
  });
  return Promise.all(outcomes);
}
