import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ShardWorld, shardWorld } from '../support/shard-world.ts';

const name = 'app';
const tcp = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 3 };
const failure = () => 'failure' as const;

const changesOf = (world: ShardWorld) =>
  world.published.flatMap((event) => (event['detail-type'] === 'Probe Result Changed' ? [event.detail] : []));

describe('a new container', () => {
  test('a container without a verdict has no result, and nothing is published of it', async () => {
    const world = shardWorld();
    const probe = { ...tcp, initialDelaySeconds: 30 };
    await world.put(name, { readinessProbe: probe, livenessProbe: probe, startupProbe: probe });
    await world.run();
    await world.clock.advance(20_000);
    for (const type of ['startup', 'readiness', 'liveness']) {
      const { result, version, containerID } = await world.probe(name, `main#${type}`);
      assert.deepEqual([result, version], [undefined, 0], type);
      assert.match(containerID, /^probelet:\/\/.+\/main\/0$/);
    }
    assert.deepEqual(changesOf(world), []);
  });

  test('the first verdict is published as initial, with its attempts', async () => {
    const world = shardWorld();
    await world.put(name, { readinessProbe: tcp, livenessProbe: tcp });
    await world.run();
    await world.clock.advance(2_000);
    const told = changesOf(world).map(({ probeType, result, previousResult, initial, attempts, version }) => [
      probeType,
      [result, previousResult, initial, attempts.length, version],
    ]);
    assert.deepEqual(Object.fromEntries(told), {
      readiness: ['success', undefined, true, 1, 1],
      liveness: ['success', undefined, true, 1, 1],
    });
    world.answer(failure);
    await world.clock.advance(4_000);
    const last = changesOf(world).findLast(({ probeType }) => probeType === 'readiness');
    assert.deepEqual(
      [last?.result, last?.previousResult, last?.initial, last?.version],
      ['failure', 'success', undefined, 2],
    );
  });

  test('goes on with what was counted of it after a hand-over before the first verdict', async () => {
    const world = shardWorld();
    await world.put(name, { livenessProbe: { ...tcp, periodSeconds: 60 } });
    world.answer(failure);
    const run = await world.run();
    await world.clock.advance(70_000);
    assert.equal(world.probes(), 2);
    await run.stop();
    await world.run();
    await world.until('failed', async () => (await world.probe(name, 'main#liveness')).result === 'failure');
    assert.equal(world.probes(), 3);
  });
});

describe('a static container that fails', () => {
  test('is probed on at its period, and its first success is its recovery', async () => {
    const world = shardWorld();
    await world.put(name, { livenessProbe: tcp });
    await world.run();
    await world.clock.advance(5_000);
    world.answer(failure);
    const before = world.probes();
    await world.clock.advance(360_000);
    assert.ok(world.probes() - before >= 359);
    const requests = () =>
      world.published.flatMap((event) =>
        event['detail-type'] === 'Container Restart Requested' ? [event.detail] : [],
      );
    assert.deepEqual(
      requests().map(({ attempt }) => attempt),
      [1, 2, 3, 4, 5, 6],
    );
    assert.equal(new Set(requests().map(({ containerID }) => containerID)).size, 1);
    assert.equal((await world.status(name)).status.containerStatuses[0]?.ready, false);
    world.answer(() => 'success');
    await world.clock.advance(1_500);
    assert.equal((await world.status(name)).status.containerStatuses[0]?.ready, true);
    const recovered = world.published.filter((event) => event['detail-type'] === 'Container Recovered');
    assert.equal(recovered.length, 1);
  });
});
