import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metLatelyMs, poisonList, poisonMax } from '../../../functions/local/metrics/poison-list.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const poison = (sk: string) => ({ key: { pk: 'B#00', sk }, detail: 'schemaVersion: not a number' });

test('an item that was mended or removed is not shown for ever', async () => {
  const clock = virtualClock();
  const list = poisonList(clock);
  list.add(poison('a'));
  await clock.advance(metLatelyMs);
  list.add(poison('b'));
  assert.deepEqual(list.with([poison('b'), poison('c')]), [poison('a'), poison('b'), poison('c')]);
  await clock.advance(1_000);
  assert.deepEqual(list.with([]), [poison('b')]);
});

test('no more items are kept than the limit', () => {
  const list = poisonList(virtualClock());
  for (let at = 0; at < 2 * poisonMax; at += 1) list.add(poison(`${at}`));
  assert.equal(list.with([]).length, poisonMax);
});
