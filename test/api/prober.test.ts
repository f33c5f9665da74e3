/** `GET /v1/prober`: shards, the releases that hold them, and how current they are. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProberView } from '../../shared/api/routes/prober.ts';
import { encodeLayout, encodeRun } from '../../shared/store/records/items.ts';
import { layoutKey } from '../../shared/store/records/keys.ts';
import type { RunRecord } from '../../shared/store/records/shard-records.ts';
import { apiWorld, startMs } from './world.ts';

const instant = (ms: number) => new Date(ms).toISOString();
const shardOf = (shard: string, from: number, to: number) => ({
  ...{ shard, from, to, generation: 3, mode: 'resident' as const, sinceMs: startMs },
});
const layout = { token: 1, version: 3, shards: [shardOf('00', 0, 128), shardOf('80', 128, 256)] };
const run: RunRecord = {
  ...{ token: 1, generation: 3, slot: 0, doneSlot: -1, beat: 4 },
  ...{ beatAtMs: startMs + 5_000, observedAtMs: startMs + 4_000, degraded: false },
};

const shown = async (world: ReturnType<typeof apiWorld>) => (await world.ask<ProberView>('GET', '/v1/prober')).body;

test('without a layout there is no shard, and an item that cannot be read is quarantined', async () => {
  const world = apiWorld();
  assert.deepEqual(await shown(world), { release: {}, shards: [] });
  await world.put({ ...layoutKey, kind: 'LAYOUT', schemaVersion: 1 });
  assert.deepEqual(await shown(world), { release: {}, shards: [] });
  assert.equal(world.poison.length, 1);
});

test('each shard has the release of its run, and when it last beat and had probed all', async () => {
  const world = apiWorld();
  await world.put(
    encodeLayout({ ...layout, desiredRelease: 'r2', trial: { shard: '80', sinceMs: startMs }, refused: 'r0' }),
  );
  await world.put(encodeRun('00', { ...run, release: 'r1', overloaded: true }));
  // Of an earlier generation, whose buckets were others.
  await world.put(encodeRun('80', { ...run, generation: 2, release: 'r1' }));
  const of = { mode: 'resident', generation: 3 };
  assert.deepEqual(await shown(world), {
    release: { desired: 'r2', trial: { shard: '80', since: instant(startMs) }, refused: 'r0' },
    shards: [
      {
        ...{ shard: '00', hashRange: '00-7f', ...of, release: 'r1' },
        ...{ beat: instant(startMs + 5_000), observed: instant(startMs + 4_000), degraded: false, overloaded: true },
      },
      { shard: '80', hashRange: '80-ff', ...of },
    ],
  });
});

test('any release will do where none is desired', async () => {
  const world = apiWorld();
  await world.put(encodeLayout({ ...layout, desiredRelease: '' }));
  await world.put(encodeRun('00', run));
  const { release, shards } = await shown(world);
  assert.deepEqual([release, shards[0]?.release], [{}, undefined]);
});
