/**
 * Worker processes of the product on DynamoDB Local and an emulator's SQS, through proxies that break calls: killed, stopped, relieved.
 * Usage: npm run e2e:workers -- [--kills N] [--handovers N] [--pairs N] [--seed S]. Ends with `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { startDynamodbLocal } from '../../support/dynamodb-local.ts';
import {
  atMost,
  exactly,
  type Figure,
  figureLines,
  quantileOf,
  scoreLine,
  scoreOf,
  told,
} from '../../support/figures.ts';
import { startMinistack } from '../../support/ministack.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { type Gap, gapMsMax, type KillsOutcome, killHolders } from './kills.ts';
import { startProbed } from './probed.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    handovers: { type: 'string', default: '1000' },
    pairs: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
});
const [kills, handovers, seed] = [Number(values.kills), Number(values.handovers), Number(values.seed)];
const pairs = Math.max(1, Math.min(Number(values.pairs), kills));
const startedMs = performance.now();
const say = (line: string) =>
  process.stdout.write(`${((performance.now() - startedMs) / 1_000).toFixed(0).padStart(5)} s  ${line}\n`);

say(`seed ${seed}: ${kills} kills in ${pairs} pairs, ${handovers} hand-overs`);
const services = { dynamodb: await startDynamodbLocal(), sqs: await startMinistack() };
const probed = await startProbed();
const figures: Figure[] = [];
try {
  if (kills > 0) figures.push(...killFigures(await allPairs()));
} finally {
  await Promise.all([services.dynamodb.stop(), services.sqs.stop(), probed.close()]);
}
for (const line of figureLines(figures)) process.stdout.write(`${line}\n`);
process.stdout.write(`seed ${seed}, ${((performance.now() - startedMs) / 60_000).toFixed(1)} min\n`);
const score = scoreOf(figures);
process.stdout.write(`${scoreLine(score)}\n`);
process.exit(score.failed === 0 ? 0 : 1);

function allPairs(): Promise<readonly KillsOutcome[]> {
  const share = (pair: number) => Math.floor((kills * (pair + 1)) / pairs) - Math.floor((kills * pair) / pairs);
  return Promise.all(
    Array.from({ length: pairs }, (_, pair) => {
      const own = share(pair);
      const random = seededRandom(seed + pair);
      return killHolders({
        services,
        probed,
        random,
        name: `pair-${pair}`,
        kills: own,
        pauses: Math.ceil(own / 10),
        say,
      });
    }),
  );
}

function killFigures(outcomes: readonly KillsOutcome[]): readonly Figure[] {
  const all = <Value>(of: (outcome: KillsOutcome) => readonly Value[]): readonly Value[] => outcomes.flatMap(of);
  const sum = (of: (outcome: KillsOutcome) => number): number => outcomes.reduce((total, each) => total + of(each), 0);
  const gaps = all((outcome) => outcome.gaps);
  for (const fault of all(({ failureCommits, changed, restarts, untrue, unfenced }) => [
    ...failureCommits,
    ...changed,
    ...restarts,
    ...untrue,
    ...unfenced,
  ]))
    say(`FAULT ${fault}`);
  const weather = sum((outcome) => [...outcome.weather.values()].reduce((total, count) => total + count, 0));
  const kinds = new Set(all((outcome) => [...outcome.weather.keys()]));
  const clear = (blows: readonly Gap['blow'][]) => gaps.filter((gap) => blows.includes(gap.blow) && !gap.inWeather);
  const probes = sum((outcome) => outcome.probes.arrived);
  const duplicates = sum((outcome) => outcome.probes.duplicates);
  return [
    told('kill -9 of a holder', `${gaps.filter(({ blow }) => blow !== 'pause').length}`),
    ...gapFigures('kill', clear(['kill', 'early'])),
    ...gapFigures('kill in the start of a run', clear(['early'])),
    ...gapFigures('SIGSTOP', clear(['pause'])),
    ...gapFigures(
      'any of these in bad weather',
      gaps.filter(({ inWeather }) => inWeather),
      false,
    ),
    exactly('Failure committed of a healthy target', all((outcome) => outcome.failureCommits).length, 0),
    exactly('committed results changed', all((outcome) => outcome.changed).length, 0),
    exactly('false restarts', all((outcome) => outcome.restarts).length, 0),
    exactly('flaps told otherwise than answered', all((outcome) => outcome.untrue).length, 0),
    exactly('commits after a higher token', all((outcome) => outcome.unfenced).length, 0),
    told('fenced writes', `${sum((outcome) => outcome.fencedWrites)}`),
    told('holds begun', `${sum((outcome) => outcome.holds)}`),
    told('probes of healthy targets', `${probes}, ${duplicates} within 0.9 period of the one before`),
    told('faults on the way', `${weather} of ${kinds.size} kinds`),
  ];
}

function gapFigures(name: string, gaps: readonly Gap[], isJudged = true): readonly Figure[] {
  if (gaps.length === 0) return [];
  const ascending = gaps.map(({ gapMs }) => gapMs / 1_000).toSorted((one, other) => one - other);
  const [p50, p99] = [quantileOf(ascending, 0.5), quantileOf(ascending, 0.99)];
  const summary = `${p50.toFixed(1)} s, ${(ascending.at(-1) ?? 0).toFixed(1)} s of ${gaps.length}`;
  const judgedP99 = atMost(`gap at ${name}: p99`, p99, { limit: gapMsMax / 1_000, unit: 's' });
  return [told(`gap at ${name}: p50, max`, summary), isJudged ? judgedP99 : told(judgedP99.name, judgedP99.measured)];
}
