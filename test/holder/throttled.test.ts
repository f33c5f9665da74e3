/**
 * A shard whose targets all fail at once, on a table that has less capacity than the verdicts need. The table is the
 * bottleneck, so all of them are published once it can have taken them in: nothing that the run does about a throttle,
 * and no successor, may ask for more than that again and again.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../shared/store/store.ts';
import { patientStore } from '../../shared/store/throttled.ts';
import { limitedStore } from '../support/limited-store.ts';
import { writeSettled } from '../support/settled-targets.ts';
import { shardWorld } from '../support/shard-world.ts';
import { countOf } from './probing/mass-world.ts';

type Row = { readonly targets: number; readonly unitsPerSecond: number };

/** The fence of a bucket, PROBE and the copy of the transition, of up to two kilobytes, each in a transaction. */
const unitsPerVerdict = 10;
/** Until the rate has been found, and what beats and checkpoints need. */
const foundSeconds = 30;

const rows: readonly Row[] = [
  { targets: 1_000, unitsPerSecond: 400 },
  { targets: 1_000, unitsPerSecond: 100 },
  { targets: 3_125, unitsPerSecond: 1_250 },
];

async function failedAtOnce({ targets, unitsPerSecond }: Row) {
  const stored: { at?: Store } = {};
  const world = shardWorld({
    wrapStore(store) {
      stored.at = store;
      return store;
    },
  });
  const raw = stored.at as Store;
  world.sync(false);
  await writeSettled(raw, { targets, port: 1, periodSeconds: 10 });
  const table = limitedStore(raw, { clock: world.clock, random: world.random, unitsPerSecond });
  const stores = { store: patientStore(table.store, world), fencedStore: table.store };
  const slotEndMs = world.clock.nowMs() + 3_600_000;
  const run = await world.run({ slotEndMs }, stores);
  await world.clock.advance(40_000);
  table.limit();
  world.answer(() => 'failure');
  return { world, run, table };
}

for (const row of rows)
  test(`${row.targets} verdicts on ${row.unitsPerSecond} units a second are told by one run as fast as it can be`, async () => {
    const { world, run, table } = await failedAtOnce(row);
    let end: unknown;
    void run.ended.then((ended) => {
      end = ended;
    });
    const leastSeconds = (row.targets * unitsPerVerdict) / row.unitsPerSecond;
    await world.until('all are told', () => countOf(world) === row.targets, 2 * leastSeconds + foundSeconds);
    assert.equal(end, undefined, 'the run holds on');
    assert.ok(table.counts.throttled > 0, 'the table was the bottleneck');
    assert.ok(
      table.counts.throttled < table.counts.written,
      `${table.counts.throttled} throttled, ${table.counts.written} written`,
    );
    await run.stop();
  });
