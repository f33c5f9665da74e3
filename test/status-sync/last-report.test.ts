/**
 * The end of a reported target: its containers are killed when its grace period ends, and reported as ended after that.
 * As kubelet removes a pod only once it has reported their end, that report comes before the purge.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { shardWorld } from '../support/shard-world.ts';

const name = 'checkout';
const graceSeconds = 20;
const probe = { tcpSocket: { port: 1 }, periodSeconds: 1 };

async function killed(containers: readonly string[] = ['app'], grace = graceSeconds) {
  const world = shardWorld();
  await world.put(name, {
    lifecycle: 'reported',
    containers: containers.map((container) => ({ name: container, readinessProbe: probe })),
  });
  const report = (state: object) =>
    world.report(name, {
      containerStatuses: containers.map((container) => ({
        name: container,
        containerID: `test://${container}`,
        state,
      })),
    });
  await report({ running: { startedAt: new Date(world.clock.nowMs()).toISOString() } });
  await world.run();
  await world.clock.advance(5_000);
  await world.remove(name, grace);
  await world.clock.advance(grace * 1_000);
  const isThere = async () => (await world.itemsOf(name)).length > 0;
  return { world, report, isThere, ends: () => report({ terminated: { exitCode: 137, reason: 'Error' } }) };
}

describe('a reported target at the end of its grace period', () => {
  test('waits for the report of how its containers ended, and publishes it', async () => {
    const { world, isThere, ends } = await killed();
    await world.clock.advance(4_000);
    assert.ok(await isThere());
    await ends();
    await world.clock.advance(3_000);
    assert.equal(await isThere(), false);
    const last = world.publishedEvents('Target Status Changed').at(-1)?.newStatus;
    assert.deepEqual(
      last?.containers.map(({ ready, started }) => [ready, started]),
      [[false, false]],
    );
    assert.equal(last?.conditions.find(({ type }) => type === 'Ready')?.status, 'False');
  });

  test('waits for no more than ten seconds', async () => {
    const { world, isThere } = await killed();
    await world.clock.advance(21_000);
    assert.equal(await isThere(), false);
  });

  test('does not wait if its containers had ended before', async () => {
    const world = shardWorld();
    await world.put(name, { lifecycle: 'reported', containers: [{ name: 'app' }] });
    const status = { name: 'app', containerID: 'test://1' };
    await world.run();
    await world.report(name, { containerStatuses: [{ ...status, state: { terminated: { exitCode: 0 } } }] });
    await world.remove(name, graceSeconds);
    await world.clock.advance((graceSeconds + 2) * 1_000);
    assert.equal((await world.itemsOf(name)).length, 0);
  });

  test('with a grace period of 0 waits for nothing', async () => {
    const { world, isThere } = await killed(['app'], 0);
    await world.clock.advance(2_000);
    assert.equal(await isThere(), false);
  });
});
