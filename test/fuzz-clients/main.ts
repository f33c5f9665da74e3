/**
 * `npm run fuzz:clients [-- --seed N] [--only TEXT] [--stages costs,crowd] [--minutes N] [--slice]`: hostile clients of
 * the API. `costs` is the table of what each parser costs in one turn of the event loop; `crowd` runs `npm start` with
 * a thousand targets among clients of each kind, `--minutes` in turn for so long. Ends with `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { shuffled } from '../fuzz-peers/kind.ts';
import { type Figure, figureLines, scoreLine, scoreOf } from '../support/figures.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { attackKinds } from './attack-kinds.ts';
import { costsStage } from './costs.ts';
import { crowdStage } from './crowd.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    only: { type: 'string' },
    stages: { type: 'string', default: 'costs,crowd' },
    minutes: { type: 'string' },
    slice: { type: 'boolean', default: false },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);
// Only so is `npm start` ended with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const random = seededRandom(seed);
const { slice: isSlice, only = '' } = values;
say(`seed ${seed}`);

/** A slice takes so many of the kinds, by chance. */
const sliceKinds = 6;
/** Longer than a client has for the head of a request, and than a large body waits: many are refused together then. */
const attackMs = { full: 13_000, slice: 4_000 };
const targets = { full: 1_000, slice: 200 };
/** A slice runs on machines that do other things, too: it finds what has no bound. */
const slack = { full: 1, slice: 4 };

function kindsOf() {
  const kinds = shuffled(
    attackKinds.filter(({ name }) => name.includes(only)),
    random,
  );
  if (isSlice) return kinds.slice(0, sliceKinds);
  const rounds = Math.ceil((Number(values.minutes ?? 0) * 60_000) / (attackMs.full * Math.max(1, kinds.length)));
  return Array.from({ length: Math.max(1, rounds) }, () => shuffled(kinds, random)).flat();
}

const size = isSlice ? 'slice' : 'full';
const stages: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  costs: () => costsStage({ only, say }),
  crowd: () =>
    crowdStage({ kinds: kindsOf(), targets: targets[size], attackMs: attackMs[size], slack: slack[size], random, say }),
};

const figures: Figure[] = [];
for (const name of values.stages.split(',')) {
  const stage = stages[name];
  if (!stage) throw new Error(`no stage ${name}: ${Object.keys(stages).join(', ')}`);
  const startMs = performance.now();
  const found = await stage();
  figures.push(...found);
  say(`\n${name} (${((performance.now() - startMs) / 1_000).toFixed(0)} s)`);
  for (const line of figureLines(found)) say(line);
}
for (const { name, measured, limit, holds } of figures)
  if (holds === false) say(`FAIL ${name}: ${measured}, limit ${limit}`);
const score = scoreOf(figures);
say(scoreLine(score));
process.exit(score.failed === 0 ? 0 : 1);
