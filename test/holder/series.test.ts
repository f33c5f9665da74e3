/** Metric series of a shard that its holder gave up in doubt, and took again. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '../../shared/store/store.ts';
import { probedWorld } from '../support/shard-world.ts';
import { beforeWrite } from '../support/store-wraps.ts';

test('a doubt ends no metric series of a shard that the process holds again, but those of what has left', async () => {
  let isOut = false;
  const world = await probedWorld({
    targets: 3,
    wrapStore: beforeWrite(() => (isOut ? Promise.reject(new StoreUnavailable('out')) : undefined)),
  });
  const { clock } = world;
  const removed = () => world.removedSeries.map(({ pod }) => pod);
  const first = await world.hold();
  await clock.advance(20_000);
  isOut = true;
  assert.equal((await clock.runUntil(first.ended)).kind, 'doubt');
  isOut = false;
  assert.deepEqual(removed(), []);
  await world.remove('target-2', 0);
  await clock.advance(5_000);
  const next = await world.hold();
  await clock.advance(20_000);
  assert.deepEqual(removed(), ['target-2']);
  await next.stop();
});

test('a message of an earlier slot ends no metric series of a shard that the same process holds', async () => {
  const world = await probedWorld({ targets: 2 });
  const first = await world.hold();
  assert.deepEqual(await world.clock.runUntil(first.ended), { kind: 'slotDone' });
  const second = await world.hold();
  await world.clock.advance(20_000);
  const earlier = await world.hold({ message: { slot: 1 } });
  assert.deepEqual(await world.clock.runUntil(earlier.ended), { kind: 'stale' });
  assert.deepEqual(world.removedSeries, []);
  assert.equal(second.view()?.targets, 2);
  await second.stop();
});
