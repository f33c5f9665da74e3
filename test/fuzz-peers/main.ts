/**
 * `npm run fuzz:peers [-- --seed N] [--only KIND,KIND] [--stages NAME,NAME] [--minutes N] [--slice] [--output json]`:
 * hostile peers against the product. `growth` and `volley` use its probers alone and measure CPU by bytes, memory, and
 * the lateness of healthy neighbours. `crowd` runs the whole of `npm start` among 700 peers; `--minutes` runs it beside
 * peers of HTTP/2 and gRPC for so long instead. Ends with `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { type Figure, figureLines, scoreLine, scoreOf } from '../support/figures.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { crowdStage, longStage } from './crowd.ts';
import { endingKinds } from './kinds.ts';
import keptSeeds from './seeds.json' with { type: 'json' };
import { growthStage, type StageOptions, volleyStage } from './stages.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    only: { type: 'string' },
    stages: { type: 'string', default: 'growth,volley,crowd' },
    minutes: { type: 'string' },
    slice: { type: 'boolean', default: false },
    output: { type: 'string', default: 'text' },
  },
});

const randomSeed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const seeds = values.seed === undefined ? [...keptSeeds, randomSeed] : [randomSeed];
const wanted = values.only?.split(',');
const kinds = endingKinds.filter(({ name }) => wanted === undefined || wanted.some((part) => name.includes(part)));

const say = (line: string) => process.stdout.write(`${line}\n`);
// Only so is `npm start` ended with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
say(`seeds ${seeds.join(', ')}; ${kinds.length} kinds`);

const options = { kinds, seeds, isSlice: values.slice, random: seededRandom(randomSeed), say };
type Stage = (options: StageOptions) => Promise<readonly Figure[]>;
const known: Readonly<Record<string, Stage>> = { growth: growthStage, volley: volleyStage, crowd: crowdStage };
const minutes = Number(values.minutes);
const stages: Readonly<Record<string, Stage>> =
  values.minutes === undefined
    ? Object.fromEntries(values.stages.split(',').map((name) => [name, known[name] ?? unknownStage(name)]))
    : { 'long run': (of) => longStage(of, minutes) };

function unknownStage(name: string): never {
  throw new Error(`no stage ${name}: ${Object.keys(known).join(', ')}`);
}

const figures: Figure[] = [];
for (const [name, stage] of Object.entries(stages)) {
  const startMs = performance.now();
  const found = await stage(options);
  figures.push(...found);
  say(`\n${name} (${((performance.now() - startMs) / 1000).toFixed(0)} s)`);
  for (const line of figureLines(found)) say(line);
}
if (values.output === 'json') say(JSON.stringify(figures));
const score = scoreOf(figures);
for (const { name, measured, holds } of figures) if (holds === false) say(`FAIL ${name}: ${measured}`);
say(scoreLine(score));
process.exit(score.failed === 0 ? 0 : 1);
