/** A prober error that lasts: nothing counts and nothing is published, but the target's event history says why. */

import assert from 'node:assert/strict';
import { columns } from '../../support/columns.ts';
import { proberError } from '../../support/prober-error.ts';
import { type ShardWorld, shardWorld } from '../../support/shard-world.ts';
import { testsIn } from '../../support/tests-in.ts';

const missing = () => proberError('PROBER', 'the secret env:TOKEN is not there');

const proberErrors = async (world: ShardWorld) =>
  (await world.history('a')).filter(({ reason }) => reason === 'ProberError');

const inLiving = testsIn(async () => {
  const world = shardWorld();
  await world.put('a', { livenessProbe: { tcpSocket: { port: 1 }, periodSeconds: 10, failureThreshold: 1 } });
  // From the beginning of a slot, so that one run has all of it.
  await world.toNextSlot();
  await world.run();
  await world.clock.advance(20_000);
  return world;
});

inLiving('a probe that cannot be made is in the event history, at most every five minutes', async (world) => {
  const before = world.published.length;
  world.answer(missing);
  await world.clock.advance(11 * 60_000);
  const publishedEvents = await proberErrors(world);
  const text = 'liveness probe could not be made: the secret env:TOKEN is not there';
  assert.deepEqual(
    columns(publishedEvents, 'count', 'message'),
    Array.from([1, 30, 30], (count) => [count, text]),
  );
  const { result, unknown } = await world.probe('a', 'main#liveness');
  assert.deepEqual([result, unknown?.reason, unknown?.failureClass], ['success', 'ProberError', 'PROBER']);
  const published = world.published.slice(before).map((event) => event['detail-type']);
  assert.deepEqual(published, ['Probe Result Changed', 'Target Status Changed']);
});

inLiving('a single one is not recorded', async (world) => {
  let probes = 0;
  world.answer(() => {
    probes += 1;
    return probes % 2 === 0 ? missing() : 'success';
  });
  await world.clock.advance(600_000);
  assert.deepEqual(await proberErrors(world), []);
});
