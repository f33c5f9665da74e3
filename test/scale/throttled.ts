/**
 * `npm run scale:throttled`: shards whose targets all fail at once, on tables with a fraction of the write units that
 * this takes, played with the product's own run and status-sync in virtual time: when the last failure is published,
 * beside the time in which the table can take in what is written. Ends with `N passed, N failed`.
 */
import type { Store } from '../../shared/store/store.ts';
import { patientStore } from '../../shared/store/throttled.ts';
import { countOf } from '../holder/probing/mass-world.ts';
import { atMost, exactly, type Figure, figureLines, scoreLine, scoreOf, unjudged } from '../support/figures.ts';
import { limitedStore } from '../support/limited-store.ts';
import { writeSettled } from '../support/settled-targets.ts';
import { type ShardWorld, shardWorld } from '../support/shard-world.ts';

type Row = { readonly targets: number; readonly unitsPerSecond: number };

/** A small table; a share of an account's quota at 100,000 targets; a new table. */
const rows: readonly Row[] = [
  { targets: 1_000, unitsPerSecond: 400 },
  { targets: 3_125, unitsPerSecond: 1_250 },
  { targets: 8_000, unitsPerSecond: 4_000 },
];
const periodSeconds = 10;
/** The third failure of each target, and the surge limit before it ends. */
const foundSeconds = 3 * periodSeconds + 10;
const secondsMax = 600;

const figures: Figure[] = [];
for (const row of rows) figures.push(...(await played(row)));
for (const line of figureLines(figures)) console.log(line);
const score = scoreOf(figures);
console.log(scoreLine(score));
process.exit(score.failed === 0 ? 0 : 1);

async function played(row: Row): Promise<readonly Figure[]> {
  const { targets, unitsPerSecond } = row;
  const { world, table } = await readyWorld(row);
  const run = await world.run({ slotEndMs: world.clock.nowMs() + 3_600_000 }, { fencedStore: table.store });
  let runs = 1;
  void run.ended.then(() => {
    runs += 1;
  });
  await world.clock.advance(40_000);
  table.limit();
  world.answer(() => 'failure');
  const seconds = await secondsUntilPublished(world, targets);
  const { unitsUsed, throttled, written } = table.counts;
  const boundSeconds = unitsUsed / unitsPerSecond;
  const name = `${targets} failures, ${unitsPerSecond} units a second`;
  return [
    atMost(`${name}: published after`, seconds, { limit: foundSeconds + boundSeconds, unit: 's' }),
    unjudged(`${name}: units needed / given`, `${unitsUsed}, ${boundSeconds.toFixed(1)} s`),
    exactly(`${name}: runs`, runs, 1),
    unjudged(`${name}: writes, throttled`, `${written}, ${throttled}`),
  ];
}

/** Targets that are ready, and a store whose writes can be limited. */
async function readyWorld({ targets, unitsPerSecond }: Row) {
  const stores: { raw?: Store; patient?: Store } = {};
  const world = shardWorld({
    wrapStore(store) {
      stores.raw = store;
      return { ...store, write: (...call) => (stores.patient ?? store).write(...call) };
    },
  });
  const { raw } = stores;
  if (!raw) throw new Error('the world has no store');
  await writeSettled(raw, { targets, port: 1, periodSeconds });
  const table = limitedStore(raw, { clock: world.clock, random: world.random, unitsPerSecond });
  stores.patient = patientStore(table.store, world);
  return { world, table };
}

/** In virtual time, since now; infinite: not in ten minutes. */
async function secondsUntilPublished(world: ShardWorld, targets: number): Promise<number> {
  for (let second = 1; second <= secondsMax; second += 1) {
    await world.clock.advance(1_000);
    if (countOf(world) === targets) return second;
  }
  return Number.POSITIVE_INFINITY;
}
