/** A probe that was requested: the event history says what it found, although its result does not change. */
import assert from 'node:assert/strict';
import { columns } from '../../support/columns.ts';
import { proberError } from '../../support/prober-error.ts';
import { type ShardWorld, shardWorld } from '../../support/shard-world.ts';
import { testsIn } from '../../support/tests-in.ts';

const probed = async (world: ShardWorld) => (await world.history('a')).filter(({ reason }) => reason === 'Probed');

const inReady = testsIn(async () => {
  const world = shardWorld();
  await world.put('a', { readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: 300 } });
  await world.toNextSlot();
  await world.run();
  await world.clock.advance(400_000);
  return world;
});

inReady('each request is answered once, with the attempt, and nothing is published', async (world) => {
  assert.deepEqual(await probed(world), []);
  const [before, published] = [await world.probe('a', 'main#readiness'), world.published.length];
  await world.trigger('a');
  await world.clock.advance(5_000);
  const [event, ...more] = await probed(world);
  assert.deepEqual(more, []);
  assert.partialDeepStrictEqual(event, {
    kind: 'recorded',
    type: 'Normal',
    message: 'readiness of main, on request: success',
    container: 'main',
    probeType: 'readiness',
    result: 'success',
  });
  assert.deepEqual(
    event?.attempts.map(({ outcome }) => outcome),
    ['success'],
  );
  assert.deepEqual(await world.probe('a', 'main#readiness'), before);
  const since = world.published.slice(published).map((each) => each['detail-type']);
  assert.deepEqual(since, ['Target Sync Requested'], 'the request itself');
  await world.clock.advance(600_000);
  assert.equal((await probed(world)).length, 1, 'probes that are due by themselves are not recorded');
});

inReady('a failure below the threshold, and a probe that cannot be made, are recorded as such', async (world) => {
  for (const answer of [() => 'failure' as const, () => proberError('PROBER', 'no secret')]) {
    world.answer(answer);
    await world.trigger('a');
    await world.clock.advance(5_000);
  }
  assert.deepEqual(columns(await probed(world), 'type', 'result', 'message'), [
    ['Warning', 'failure', 'readiness of main, on request: failure'],
    ['Warning', undefined, 'readiness of main, on request: could not be made: no secret'],
  ]);
});
