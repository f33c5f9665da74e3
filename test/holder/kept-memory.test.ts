import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShardMemory } from '../../shared/holder/shard-run.ts';
import { shardWorld } from '../support/shard-world.ts';

const slotMs = 60_000;

test('a process does not continue with what it remembers of a run whose probe has never ended', async () => {
  const world = shardWorld();
  const memory: ShardMemory = new Map();
  const hold = async (slot: number) => {
    const message = { slot, slotEndMs: world.clock.nowMs() + slotMs };
    return world.clock.runUntil((await world.run(message, {}, { memory })).ended);
  };
  await world.put('web', { readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: 5 } });
  world.answer(() => new Promise(() => undefined));
  assert.deepEqual(await hold(1), { kind: 'slotDone' });
  const hung = world.probes();
  world.answer(() => 'success');
  assert.deepEqual(await hold(2), { kind: 'slotDone' });
  assert.ok(world.probes() - hung >= 10, `${world.probes() - hung} probes`);
});
