/** Metric series of a shard that its holder gave up in doubt, and took again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Store, StoreUnavailable } from '../../shared/store/store.ts';
import { shardWorld } from './shard-world.ts';

test('a doubt ends no metric series of a shard that the process holds again, but those of what has left', async () => {
  let isOut = false;
  const world = await shardWorld({
    targets: 3,
    wrapStore: (store: Store) => ({
      ...store,
      write: (...asked) => (isOut ? Promise.reject(new StoreUnavailable('out')) : store.write(...asked)),
    }),
  });
  const { clock, removedSeries } = world;
  const first = await world.hold();
  await clock.advance(20_000);
  isOut = true;
  assert.equal((await clock.runUntil(first.ended)).kind, 'doubt');
  isOut = false;
  assert.deepEqual(removedSeries, []);
  await world.api('DELETE', '/v1/namespaces/default/targets/target-2?gracePeriodSeconds=0');
  await clock.advance(5_000);
  const next = await world.hold();
  await clock.advance(20_000);
  assert.deepEqual(removedSeries, ['target-2']);
  await next.end();
});

test('a message of an earlier slot ends no metric series of a shard that the same process holds', async () => {
  const world = await shardWorld({ targets: 2 });
  const first = await world.hold();
  assert.deepEqual(await world.clock.runUntil(first.ended), { kind: 'slotDone' });
  const second = await world.hold();
  await world.clock.advance(20_000);
  const earlier = await world.hold({ message: { slot: 1 } });
  assert.deepEqual(await world.clock.runUntil(earlier.ended), { kind: 'stale' });
  assert.deepEqual(world.removedSeries, []);
  assert.equal(second.view()?.targets, 2);
  await second.end();
});
