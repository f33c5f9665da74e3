import assert from 'node:assert/strict';
import { test } from 'node:test';
import { surgeLimitOf } from '../../../shared/holder/self-check/surge.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

test('the beginning of each surge is said once, with the failure that makes it one', async () => {
  const clock = virtualClock();
  let begun = 0;
  const surgeLimit = surgeLimitOf(clock, () => {
    begun += 1;
  });
  const fail = (from: number, to: number) => {
    for (let target = from; target <= to; target += 1) surgeLimit.ask(`target-${target}`, 10_000, 50);
  };
  // More than three in ten.
  fail(1, 15);
  assert.deepEqual([begun, surgeLimit.surge()], [0, undefined]);
  fail(16, 16);
  assert.deepEqual([begun, surgeLimit.surge()], [1, { sinceMs: clock.nowMs(), turning: 16, targets: 50 }]);
  assert.equal(surgeLimit.heldBack(), 1, 'at its beginning none may turn');
  fail(17, 50);
  assert.equal(begun, 1);
  assert.equal(surgeLimit.heldBack(), 35);
  await clock.advance(61_000);
  fail(1, 15);
  assert.equal(begun, 1);
  fail(16, 16);
  assert.equal(begun, 2);
});
