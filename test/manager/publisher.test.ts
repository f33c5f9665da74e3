/** Events of a run on their way to the bus. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bus } from '../../shared/bus/bus.ts';
import type { BusEvent } from '../../shared/bus/events.ts';
import { publisherOf } from '../../shared/manager/publisher.ts';
import { shardWorld } from '../support/shard-world.ts';

const eventOf = (id: string): BusEvent => ({
  detailType: 'Target Sync Requested',
  timeMs: 0,
  detail: { schemaVersion: 1, id, target: { namespace: 'default', name: 'checkout', uid: 'u1' }, reason: 'Due' },
});

test('nothing is left lying that is published when the bus has just taken the last', async () => {
  for (let steps = 0; steps < 20; steps += 1) {
    const run = shardWorld().bareRun(1);
    const taken: string[] = [];
    let second = () => undefined as unknown;
    const bus: Bus = {
      async publish(events) {
        taken.push(...events.map(({ detail }) => detail.id));
        void second();
        return { failed: [] };
      },
    };
    const publisher = publisherOf({ ...run, ports: { ...run.ports, bus } });
    second = async () => {
      second = () => undefined;
      for (let step = 0; step < steps; step += 1) await undefined;
      publisher.publish([eventOf('second')]);
    };
    publisher.publish([eventOf('first')]);
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
    assert.deepEqual(taken, ['first', 'second'], `after ${steps} steps`);
  }
});

test('a run does not end later for a bus that hangs', async () => {
  const world = shardWorld();
  const run = world.bareRun(1);
  const bus: Bus = {
    publish: (events, { signal } = {}) =>
      new Promise((resolve) => {
        signal?.addEventListener('abort', () => resolve({ failed: events.map((_, index) => index) }));
      }),
  };
  const publisher = publisherOf({ ...run, ports: { ...run.ports, bus } });
  publisher.publish([eventOf('first')]);
  const beganMs = world.clock.monotonicMs();
  await world.clock.runUntil(publisher.drained());
  assert.equal(world.clock.monotonicMs() - beganMs, 5_000);
});
