import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardWorld } from '../support/shard-world.ts';

const name = 'app';
const gate = 'example.test/gate';

test('a reported condition that changes alone is stored, shown and published', async () => {
  const world = shardWorld();
  const readinessProbe = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 1 };
  await world.put(name, { lifecycle: 'reported', readinessProbe });
  const report = (status: string) =>
    world.reportRunning(name, 'test://main', { container: 'main', conditions: [{ type: gate, status }] });
  const stored = async () => (await world.status(name)).status.conditions.find(({ type }) => type === gate)?.status;
  world.answer(() => 'failure');
  await report('True');
  await world.run();
  await world.until('taken in', async () => (await stored()) === 'True');
  await world.clock.advance(10_000);
  const before = world.publishedEvents('Target Status Changed').length;
  await report('False');
  await world.until('taken in again', async () => (await stored()) === 'False', 60);
  assert.equal(world.publishedEvents('Target Status Changed').length, before + 1);
  await world.clock.advance(60_000);
  const { version } = await world.status(name);
  await world.clock.advance(60_000);
  assert.equal((await world.status(name)).version, version, 'it is written once');
});
