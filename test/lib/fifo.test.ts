import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fifo } from '../../shared/lib/fifo.ts';
import { seededRandom } from '../support/seeded-random.ts';

test('a queue gives what was added in order, however long it has been', () => {
  const { next: random } = seededRandom(7);
  const queue = new Fifo<{ readonly at: number }>();
  let [added, taken] = [0, 0];
  for (let round = 0; round < 200; round += 1) {
    // Longer than what is kept of given up places, and empty again and again.
    const share = round % 20 < 10 ? 0.9 : 0.1;
    for (let step = 0; step < 500; step += 1) {
      if (random() < share) {
        queue.push({ at: added });
        added += 1;
      } else {
        const item = queue.shift();
        assert.equal(item?.at, taken < added ? taken : undefined);
        if (item) taken += 1;
      }
      assert.equal(queue.length, added - taken);
    }
  }
  queue.push({ at: added });
  queue.clear();
  assert.equal(queue.length, 0);
  assert.equal(queue.shift(), undefined);
});
