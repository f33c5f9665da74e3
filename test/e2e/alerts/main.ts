/**
 * `npm run e2e:alerts [-- --kills N] [--crashes N] [--seed N]`: alerts of a real process reach services of every format
 * whatever a receiver does, and survive kills, N real ones in a world that changes (it mounts a small disk, as root)
 * and N simulated ones. Ends with `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { seededRandom } from '../../support/seeded-random.ts';
import { say, type Tally, tallyOf } from '../../support/tally.ts';
import { judgeCrashes } from './crashes.ts';
import { judgeFormats } from './formats.ts';
import { judgeKills } from './kills.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '40' },
    crashes: { type: 'string', default: '1000' },
    seed: { type: 'string', default: `${Math.floor(Math.random() * 2 ** 31)}` },
  },
});
const { verdict, end } = tallyOf();

/** An error of a stage is a failure: what was not tried is not survived. */
async function stage(name: string, judge: (verdict: Tally['verdict']) => Promise<void>): Promise<void> {
  const startedMs = performance.now();
  await judge((text, wrong) => verdict(`${name}: ${text}`, wrong)).catch((error: Error) =>
    verdict(name, [error.message]),
  );
  say(`       ${name}: ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
}

say(`seed ${values.seed}`);
const random = seededRandom(Number(values.seed));
// Both mostly wait.
await Promise.all([
  stage('formats', judgeFormats),
  stage('kills', (judged) => judgeKills({ kills: Number(values.kills), random }, judged)),
]);
await stage('crashes', (judged) => judgeCrashes(Number(values.crashes), judged));
end();
