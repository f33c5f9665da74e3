import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardWorld } from '../../support/shard-world.ts';

const name = 'checkout';
const tcpSocket = { port: 80 };
const probe = { tcpSocket, periodSeconds: 1 };

test('a worker of a sidecar that ended with the termination does not come back when the target is read again', async () => {
  const world = shardWorld();
  await world.put(name, {
    lifecycle: 'reported',
    initContainers: [{ name: 'proxy', restartPolicy: 'Always', livenessProbe: probe, readinessProbe: probe }],
    containers: [{ name: 'app', readinessProbe: probe }],
  });
  const running = { state: { running: { startedAt: new Date(world.clock.nowMs()).toISOString() } } };
  const status = (restartCount: number) => ({
    phase: 'Running',
    initContainerStatuses: [{ name: 'proxy', containerID: 'test://1', ...running }],
    containerStatuses: [{ name: 'app', containerID: `test://2-${restartCount}`, restartCount, ...running }],
  });
  await world.report(name, status(0));
  await world.run();
  await world.clock.advance(5_000);
  await world.remove(name, 600);
  await world.until('ended', async () => (await world.probe(name, 'proxy#liveness')).ended, 10);
  const { version } = await world.probe(name, 'proxy#liveness');
  await world.report(name, status(1));
  await world.clock.advance(10_000);
  const after = await world.probe(name, 'proxy#liveness');
  assert.deepEqual([after.ended, after.version], [true, version]);
  assert.equal((await world.probe(name, 'app#readiness')).containerID, 'test://2-1', 'the report was taken in');
});
