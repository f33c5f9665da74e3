/** Events of a run on their way to the bus. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Bus } from '../../../shared/bus/bus.ts';
import type { BusEvent } from '../../../shared/bus/events.ts';
import { publisherOf } from '../../../shared/holder/probing/publisher.ts';
import { inShardWorld, shardWorld } from '../../support/shard-world.ts';

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

inShardWorld('a run does not end later for a bus that hangs', async (world) => {
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

for (const [what, answer, warnings] of [
  ['takes everything is not worth a warning', { failed: [] }, 0],
  ['does not take an event is worth a warning', { failed: [0] }, 1],
  ['warns of a lack of rights itself', { failed: [0], denied: true }, 0],
] as const)
  inShardWorld(`a bus that ${what}`, async (world) => {
    const run = world.bareRun(1);
    const publisher = publisherOf({ ...run, ports: { ...run.ports, bus: { publish: async () => answer } } });
    publisher.publish([eventOf('first')]);
    await publisher.drained();
    assert.equal(world.log.lines.filter(({ level }) => level === 'warn').length, warnings);
  });

/** A bus that takes nothing until it is opened; what it took, by detail type. */
function closedBus() {
  const { promise, resolve: open } = Promise.withResolvers<void>();
  const taken: BusEvent[] = [];
  const bus: Bus = {
    async publish(events) {
      await promise;
      taken.push(...events);
      return { failed: [] };
    },
  };
  return { bus, taken, open };
}

const doubtOf = (detailType: 'Prober Degraded' | 'Prober Recovered'): BusEvent => {
  const detail = { schemaVersion: 1 as const, id: detailType, shard: '00', hashRange: '00-ff', since: '' };
  return detailType === 'Prober Degraded'
    ? { detailType, timeMs: 0, detail: { ...detail, reason: 'canaries silent' } }
    : { detailType, timeMs: 0, detail };
};

const unhealthyOf = (id: string): BusEvent => ({
  detailType: 'Container Unhealthy',
  timeMs: 0,
  detail: {
    schemaVersion: 1,
    id,
    target: { namespace: 'default', name: 'checkout', uid: 'u1' },
    container: 'main',
    probeType: 'liveness',
    message: 'Liveness probe failed: refused',
    count: 1,
    attempts: [],
  },
});

describe('with 10,000 events waiting for a slow bus', () => {
  /** Publishes these behind a full line; what the bus got, and the outcome that their publisher got. */
  async function publishedLate(late: readonly BusEvent[]) {
    const run = shardWorld().bareRun(1);
    const { bus, taken, open } = closedBus();
    const publisher = publisherOf({ ...run, ports: { ...run.ports, bus } });
    publisher.publish([eventOf('under way')]);
    await new Promise(setImmediate);
    publisher.publish(Array.from({ length: 10_000 }, (_, at) => eventOf(`waiting ${at}`)));
    const settled: boolean[] = [];
    for (const event of late) publisher.publish([event], (isTaken) => settled.push(isTaken));
    open();
    await publisher.drained();
    return { ids: taken.map(({ detail }) => detail.id), settled };
  }

  test('what the prober says of itself is not dropped', async () => {
    const { ids, settled } = await publishedLate([doubtOf('Prober Degraded'), doubtOf('Prober Recovered')]);
    assert.deepEqual(ids.slice(-2), ['Prober Degraded', 'Prober Recovered']);
    assert.deepEqual(settled, [true, true]);
  });

  test('a recorded event, which is never repeated, takes the place of one that is', async () => {
    const { ids, settled } = await publishedLate([unhealthyOf('unhealthy')]);
    assert.equal(ids.at(-1), 'unhealthy');
    assert.ok(!ids.includes('waiting 9999') && ids.includes('waiting 9998'), 'the newest of the repeated is dropped');
    assert.deepEqual(settled, [true]);
  });

  test('one that is repeated anyway is dropped, and its publisher learns that', async () => {
    const { ids, settled } = await publishedLate([eventOf('late')]);
    assert.deepEqual([ids.length, ids.includes('late')], [10_001, false]);
    assert.deepEqual(settled, [false]);
  });
});
