import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemRandom } from '../../shared/lib/random.ts';
import { syncTarget } from '../../shared/status-sync/sync.ts';
import type { Store } from '../../shared/store/store.ts';
import { apiWorld, manifest, targetPath } from '../api/world.ts';
import { immediateClock } from '../support/immediate-clock.ts';

const path = targetPath('worker');

/**
 * A target whose grace period has ended, and two purges of it: `between` happens after the first has decided and before
 * it looks again.
 */
async function purgedTwice(between?: (world: ReturnType<typeof apiWorld>) => Promise<unknown>) {
  const world = apiWorld();
  assert.equal((await world.request('PUT', path, manifest())).status, 201);
  assert.equal((await world.request('DELETE', `${path}?gracePeriodSeconds=0`)).status, 202);
  const ports = {
    bus: world.bus,
    clock: { ...immediateClock(), nowMs: world.clock.nowMs },
    random: systemRandom,
    log: world.log,
  };
  const name = { namespace: 'default', name: 'worker' };
  let queries = 0;
  const store: Store = {
    ...world.store,
    async query(query) {
      queries += 1;
      if (queries === 2) {
        assert.equal(await syncTarget({ ...ports, store: world.store }, name), 'purged');
        await between?.(world);
      }
      return world.store.query(query);
    },
  };
  return { world, outcome: await syncTarget({ ...ports, store }, name) };
}

describe('a target that another sync has purged meanwhile', () => {
  test('is unknown', async () => {
    const { outcome } = await purgedTwice();
    assert.equal(outcome, 'unknownTarget');
  });

  test('and that was registered again is not purged, as much as it looks the same', async () => {
    const { world, outcome } = await purgedTwice(async ({ request }) => {
      assert.equal((await request('PUT', path, manifest())).status, 201);
      const labels = { metadata: { labels: { a: 'b' } } };
      assert.equal((await request('PATCH', path, labels)).status, 200);
    });
    assert.equal((await world.request('GET', path)).status, 200);
    assert.notEqual(outcome, 'purged');
  });
});

test('a target whose first report comes in this moment leaves nothing of it', async () => {
  const world = apiWorld();
  const spec = { ...manifest().spec, lifecycle: 'reported' };
  assert.equal((await world.request('PUT', path, { spec })).status, 201);
  assert.equal((await world.request('DELETE', `${path}?gracePeriodSeconds=0`)).status, 202);
  const report = async () => {
    const status = {
      containerStatuses: [
        {
          name: 'main',
          state: { running: { startedAt: '2026-01-01T11:59:00Z' } },
          containerID: 'c://1',
          restartCount: 0,
        },
      ],
    };
    assert.equal((await world.request('PUT', `${path}/status`, { status })).status, 200);
  };
  let reported = false;
  const store: Store = {
    ...world.store,
    async write(operations, options) {
      const isPurge = operations.some(({ kind }) => kind === 'delete');
      if (isPurge && !reported) {
        reported = true;
        await report();
      }
      return world.store.write(operations, options);
    },
  };
  const clock = { ...immediateClock(), nowMs: world.clock.nowMs };
  const ports = { bus: world.bus, clock, random: systemRandom, log: world.log, store };
  assert.equal(await syncTarget(ports, { namespace: 'default', name: 'worker' }), 'purged');
  assert.ok(reported);
  const left = (await world.items('worker')).filter(({ kind }) => kind !== 'EVENT');
  assert.deepEqual(left, []);
});
