/** Several deliveries of events of one target at the same time, as a queue without order makes them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Bus } from '../../shared/bus/bus.ts';
import type { BusEvent } from '../../shared/bus/events.ts';
import { sleep } from '../../shared/lib/clock.ts';
import { syncTarget } from '../../shared/status-sync/sync.ts';
import type { Store } from '../../shared/store/store.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { shardWorld } from '../support/shard-world.ts';

const name = 'checkout';
const target = { namespace: 'default', name };
const livenessProbe = { tcpSocket: { port: 1 }, periodSeconds: 10, failureThreshold: 1 };
const running = {
  containerStatuses: [
    { name: 'main', containerID: 'run://1', state: { running: { startedAt: '1970-01-01T00:00:00Z' } } },
  ],
};

/** A world whose only container has just failed; no restart request is published yet. */
async function failedWorld() {
  const world = shardWorld();
  await world.put(name, { lifecycle: 'reported', livenessProbe });
  await world.report(name, running);
  await world.clock.runUntil(syncTarget({ ...world, store: world.store }, target));
  const run = await world.run();
  await world.clock.advance(15_000);
  world.sync(false);
  world.answer(() => 'failure');
  await world.until('the container fails', async () => (await world.probe(name, 'main#liveness')).result === 'failure');
  return { world, run };
}

type World = Awaited<ReturnType<typeof failedWorld>>['world'];

/** What a sync works with, where every call takes some time. */
function slowPorts({ store, clock, random, log }: World, seed: number) {
  const chance = seededRandom(seed);
  const after = async <Answer>(msMax: number, call: () => Promise<Answer>): Promise<Answer> => {
    await sleep(clock, chance.next() * msMax);
    const answer = await call();
    await sleep(clock, chance.next() * msMax);
    return answer;
  };
  const requests: BusEvent[] = [];
  const slowStore: Store = {
    get: (...args) => after(20, () => store.get(...args)),
    query: (...args) => after(20, () => store.query(...args)),
    write: (...args) => after(20, () => store.write(...args)),
  };
  const bus: Bus = {
    publish: (events) =>
      after(150, async () => {
        requests.push(...events.filter(({ detailType }) => detailType === 'Container Restart Requested'));
        return { failed: [] };
      }),
  };
  return { ports: { store: slowStore, bus, clock, random, log }, requests };
}

describe('deliveries of one target at the same time', () => {
  for (const count of [10, 50])
    test(`${count} of them publish its restart request once or twice`, async () => {
      for (let seed = 1; seed <= 5; seed += 1) {
        const { world, run } = await failedWorld();
        run.crash();
        const { ports, requests } = slowPorts(world, seed);
        const syncs = Array.from({ length: count }, () => syncTarget(ports, target));
        await world.clock.runUntil(Promise.all(syncs));
        assert.ok(requests.length >= 1 && requests.length <= 2, `seed ${seed}: published ${requests.length} times`);
        const { outbox } = await world.status(name);
        assert.deepEqual(outbox, [], `seed ${seed}: the outbox`);
      }
    });

  test('take in what changed meanwhile, and each publishes its own events alone', async () => {
    const { world, run } = await failedWorld();
    run.crash();
    const { ports, requests } = slowPorts(world, 7);
    const first = syncTarget(ports, target);
    await world.clock.advance(80);
    await world.report(name, { conditions: [{ type: 'example.com/Ready', status: 'False' }] });
    const later = Array.from({ length: 10 }, () => syncTarget(ports, target));
    await world.clock.runUntil(Promise.all([first, ...later]));
    assert.equal(requests.length, 1);
    const { outbox, observedReportVersion } = await world.status(name);
    assert.deepEqual([outbox, observedReportVersion], [[], 2]);
  });
});

describe('a sync that dies after its write', () => {
  test('leaves its restart request to the next one, some seconds later', async () => {
    const { world } = await failedWorld();
    const requests: number[] = [];
    const died: Bus = { publish: () => new Promise(() => undefined) };
    const alive: Bus = {
      publish: async (events) => {
        if (events.some(({ detailType }) => detailType === 'Container Restart Requested'))
          requests.push(world.clock.nowMs());
        return { failed: [] };
      },
    };
    void syncTarget({ ...world, bus: died }, target);
    await world.clock.advance(0);
    const diedAtMs = world.clock.nowMs();
    assert.equal((await world.status(name)).outbox.length, 1);
    // The holder asks for a sync while the outbox is not empty.
    world.bus.subscribe({ 'detail-type': ['Target Sync Requested'] }, async () => {
      await syncTarget({ ...world, bus: alive }, target);
    });
    await world.until('it is published', () => requests.length > 0, 60);
    const afterMs = (requests[0] ?? 0) - diedAtMs;
    assert.ok(afterMs >= 5_000 && afterMs <= 16_000, `${afterMs} ms after the write`);
  });
});
