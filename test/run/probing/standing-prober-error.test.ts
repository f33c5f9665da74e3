/** A prober error that lasts: nothing counts and nobody is told, but the target's story says why. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from '../../../shared/core/types.ts';
import { columns } from '../../support/columns.ts';
import { type ShardWorld, shardWorld } from '../../support/shard-world.ts';

const missing = (): Attempt => ({
  outcome: 'unknown',
  output: '',
  error: 'the secret env:TOKEN is not there',
  failureClass: 'PROBER',
  timings: { totalMs: 1 },
});

const proberErrors = async (world: ShardWorld) =>
  (await world.history('a')).filter(({ reason }) => reason === 'ProberError');

const livingWorld = async () => {
  const world = shardWorld();
  await world.put('a', { livenessProbe: { tcpSocket: { port: 1 }, periodSeconds: 10, failureThreshold: 1 } });
  // From the beginning of a slot, so that one run has all of it.
  await world.toNextSlot();
  await world.run();
  await world.clock.advance(20_000);
  return world;
};

test('a probe that cannot be made for minutes is told of in the story, at most every five minutes', async () => {
  const world = await livingWorld();
  const before = world.published.length;
  world.answer(missing);
  await world.clock.advance(11 * 60_000);
  const publishedEvents = await proberErrors(world);
  assert.deepEqual(
    columns(publishedEvents, 'count', 'message'),
    [1, 30, 30].map((count) => [count, 'liveness probe could not be made: the secret env:TOKEN is not there']),
  );
  const { result, unknown } = await world.probe('a', 'main#liveness');
  assert.deepEqual([result, unknown?.reason, unknown?.failureClass], ['success', 'ProberError', 'PROBER']);
  const published = world.published.slice(before).map((event) => event['detail-type']);
  assert.deepEqual(published, ['Probe Result Changed', 'Target Status Changed']);
});

test('a single one is not worth a word', async () => {
  const world = await livingWorld();
  let probes = 0;
  world.answer(() => {
    probes += 1;
    return probes % 2 === 0 ? missing() : 'success';
  });
  await world.clock.advance(600_000);
  assert.deepEqual(await proberErrors(world), []);
});
