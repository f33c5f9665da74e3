import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import { changesTotal, readChanges, withChange } from '../../shared/table/change-counters.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { virtualClock } from '../support/virtual-clock.ts';

/** A store with no change yet, and what its counters add up to. */
function world() {
  const store = sqliteStore({ path: ':memory:' });
  const counted = async () => {
    const counters = await readChanges(store, { from: 0, to: 256 }, false);
    return [...counters.values()].map(changesTotal).reduce((sum, one) => sum + one, 0);
  };
  return { ports: { store, clock: virtualClock(), random: seededRandom(1) }, counted };
}

const address = targetAddress('default', 'checkout');

test('a change is counted before it is written, so that its bucket is known, and after it, so that it is seen', async () => {
  const { ports, counted } = world();
  const during = await withChange(ports, address, counted);
  assert.deepEqual([during, await counted()], [1, 2]);
});

test('a change whose write failed is counted all the same: it may have been written', async () => {
  const { ports, counted } = world();
  await assert.rejects(
    withChange(ports, address, () => Promise.reject(new Error('a test'))),
    /a test/,
  );
  assert.equal(await counted(), 2);
});
