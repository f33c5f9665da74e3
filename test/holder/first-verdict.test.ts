import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { column } from '../support/columns.ts';
import { heldWorld, inShardWorld, type ShardWorld } from '../support/shard-world.ts';

const name = 'app';
const tcp = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 3 };
const failure = () => 'failure' as const;

const changesOf = (world: ShardWorld) => world.publishedEvents('Probe Result Changed');

describe('a new container', () => {
  inShardWorld('a container without a verdict has no result, and nothing is published of it', async (world) => {
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
    const { world } = await heldWorld({ [name]: { readinessProbe: tcp, livenessProbe: tcp } }, 2_000);
    const publishedEvents = changesOf(world).map(
      ({ probeType, result, previousResult, initial, attempts, version }) => [
        probeType,
        [result, previousResult, initial, attempts.length, version],
      ],
    );
    assert.deepEqual(Object.fromEntries(publishedEvents), {
      readiness: ['success', undefined, true, 1, 1],
      liveness: ['success', undefined, true, 1, 1],
    });
    world.answer(failure);
    await world.clock.advance(4_000);
    const last = changesOf(world).findLast(({ probeType }) => probeType === 'readiness');
    const seen = [last?.result, last?.previousResult, last?.initial, last?.version];
    assert.deepEqual(seen, ['failure', 'success', undefined, 2]);
  });

  inShardWorld('goes on with what was counted of it after a hand-over before the first verdict', async (world) => {
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

inShardWorld('a startup probe that leaves the spec and comes back decides again', async (world) => {
  const probes = { readinessProbe: tcp, livenessProbe: tcp };
  await world.put(name, { ...probes, startupProbe: tcp });
  await world.run();
  const startedOf = async () => (await world.status(name)).status.containerStatuses[0]?.started;
  await world.until('started', async () => (await startedOf()) === true);
  await world.put(name, probes);
  await world.until('ended', async () => (await world.probe(name, 'main#startup')).ended);
  const published = changesOf(world).length;
  world.answer(failure);
  await world.put(name, { ...probes, startupProbe: tcp });
  await world.until('begun anew', async () => !(await world.probe(name, 'main#startup')).ended);
  assert.deepEqual(changesOf(world).slice(published), [], 'it had no result, and has none');
  await world.until('not started', async () => (await startedOf()) === false);
  const before = world.probes();
  await world.clock.advance(1_900);
  assert.ok(world.probes() - before <= 2, 'only the startup probe is made');
});

describe('a readiness probe that leaves the spec and comes back', () => {
  const other = { ...tcp, initialDelaySeconds: 60 };

  async function comesBack() {
    const { world } = await heldWorld({ [name]: { readinessProbe: tcp, livenessProbe: tcp } }, 5_000);
    await world.put(name, { livenessProbe: tcp });
    await world.until('ended', async () => (await world.probe(name, 'main#readiness')).ended);
    const endedMs = world.clock.nowMs();
    await world.put(name, { readinessProbe: other, livenessProbe: tcp });
    await world.clock.advance(100);
    return { status: await world.shown(name), endedMs };
  }

  test('is unknown at once, and so is its target', async () => {
    const { status } = await comesBack();
    const ready = status.conditions.find(({ type }) => type === 'Ready');
    assert.deepEqual([ready?.status, ready?.reason], ['Unknown', 'NotYetProbed']);
    assert.equal(status.containerStatuses[0]?.ready, false);
    assert.equal(status.probes.find(({ probeType }) => probeType === 'readiness')?.reason, 'NotYetProbed');
  });

  test('has been unknown since its earlier worker ended', async () => {
    const { status, endedMs } = await comesBack();
    const since = Date.parse(status.probes.find(({ probeType }) => probeType === 'readiness')?.since ?? '');
    assert.ok(since > endedMs - 1_000 && since <= endedMs, `${since} is not about ${endedMs}`);
  });
});

describe('a static container that fails', () => {
  inShardWorld('is probed on at its period, and its first success is its recovery', async (world) => {
    await world.put(name, { livenessProbe: tcp });
    // From the beginning of a slot, so that one run has all of it.
    await world.toNextSlot();
    await world.run();
    await world.clock.advance(5_000);
    world.answer(failure);
    const before = world.probes();
    await world.clock.advance(360_000);
    assert.ok(world.probes() - before >= 359);
    const requests = () => world.publishedEvents('Container Restart Requested');
    assert.deepEqual(column(requests(), 'attempt'), [1, 2, 3, 4, 5, 6]);
    assert.equal(new Set(requests().map(({ containerID }) => containerID)).size, 1);
    assert.equal((await world.status(name)).status.containerStatuses[0]?.ready, false);
    world.answer(() => 'success');
    await world.clock.advance(1_500);
    assert.equal((await world.status(name)).status.containerStatuses[0]?.ready, true);
    assert.equal(world.publishedEvents('Container Recovered').length, 1);
  });
});
