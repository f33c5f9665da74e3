import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import type { Store } from '../../shared/store/store.ts';
import { immediateClock } from '../support/immediate-clock.ts';
import { writeTargets } from './many-targets.ts';
import { apiWorld } from './world.ts';

const path = '/v1/namespaces/default/desired';

/** Of one call of the store, about as DynamoDB takes for a page of a megabyte, or for one write. */
const [queryMs, writeMs] = [250, 10];

/** So many targets on a store that takes its time, by a clock that only its calls move. */
function crowded(count: number) {
  let elapsedMs = 0;
  const slow = (store: Store): Store => ({
    ...store,
    query: (query) => {
      elapsedMs += queryMs;
      return store.query(query);
    },
    write: (operations, options) => {
      elapsedMs += writeMs;
      return store.write(operations, options);
    },
  });
  const store = sqliteStore({ path: ':memory:' });
  const names = Array.from({ length: count }, (_, index) => `target-${String(index).padStart(6, '0')}`);
  const filled = writeTargets({ store }, names, { statuses: true });
  const clock = { ...immediateClock(), monotonicMs: () => elapsedMs };
  return { names, app: apiWorld({ clock, store: slow(store) }), filled };
}

type Done = { kept: string[]; removed: string[]; continue?: string };

test('PUT …/desired with 50,000 targets, of which one request manages a few thousand, comes to its end', async () => {
  const world = crowded(50_000);
  await world.filled;
  const undesired = new Set(world.names.filter((_, index) => index % 100 === 0));
  const body = { names: world.names.filter((name) => !undesired.has(name)) };
  assert.ok(JSON.stringify(body).length > 600_000);
  const [kept, removed]: [string[], string[]] = [[], []];
  let requests = 0;
  for (let query = ''; requests === 0 || query !== ''; requests += 1) {
    const { status, body: done } = await world.app.ask<Done>('PUT', `${path}${query}`, body);
    assert.ok(status === 200 || status === 202, `${status}`);
    assert.equal(status === 202, done.continue !== undefined);
    kept.push(...done.kept);
    removed.push(...done.removed);
    query = done.continue === undefined ? '' : `?continue=${done.continue}`;
    assert.ok(requests < 50, 'it does not come to its end');
  }
  assert.ok(requests > 3, `${requests} requests`);
  assert.deepEqual(removed.sort(), [...undesired].sort());
  assert.deepEqual(kept.sort(), body.names.sort());
});
