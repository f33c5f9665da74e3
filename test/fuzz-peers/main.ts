/**
 * `npm run fuzz:peers [-- --seed N] [--only KIND,KIND] [--slice] [--output json]`: hostile peers against the product's probers. For each
 * kind: CPU by bytes, memory, and how late healthy neighbours are. Ends with `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { type Figure, figureLines, scoreLine, scoreOf } from '../support/figures.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { endingKinds } from './kinds.ts';
import keptSeeds from './seeds.json' with { type: 'json' };
import { growthStage, volleyStage } from './stages.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    only: { type: 'string' },
    slice: { type: 'boolean', default: false },
    output: { type: 'string', default: 'text' },
  },
});

const randomSeed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const seeds = values.seed === undefined ? [...keptSeeds, randomSeed] : [randomSeed];
const wanted = values.only?.split(',');
const kinds = endingKinds.filter(({ name }) => wanted === undefined || wanted.some((part) => name.includes(part)));

const say = (line: string) => process.stdout.write(`${line}\n`);
say(`seeds ${seeds.join(', ')}; ${kinds.length} kinds`);

const options = { kinds, seeds, isSlice: values.slice, random: seededRandom(randomSeed), say };
const figures: Figure[] = [];
for (const [name, stage] of Object.entries({ growth: growthStage, volley: volleyStage })) {
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
