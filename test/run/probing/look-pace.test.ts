import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LookPace, looksAtOnceMax } from '../../../shared/run/probing/look-pace.ts';

/** A pace whose clock the test sets, and looks of targets that have not been looked at. */
function paceAt() {
  const clock = { nowMs: 0 };
  const pace = new LookPace({ monotonicMs: () => clock.nowMs } as never);
  return { clock, pace, waits: (count: number) => Array.from({ length: count }, () => pace.waitMs({})) };
}

test('some targets at once do not wait, and each one after them waits 5 ms longer than the one before', () => {
  const { waits } = paceAt();
  assert.deepEqual(new Set(waits(looksAtOnceMax)), new Set([0]));
  assert.deepEqual(waits(3), [5, 10, 15]);
});

test('a target that waits keeps its place, and the end of its wait', () => {
  const { clock, pace, waits } = paceAt();
  waits(looksAtOnceMax + 10);
  const held = {};
  const waitMs = pace.waitMs(held);
  clock.nowMs = 20;
  assert.equal(pace.waitMs(held), waitMs - 20);
  clock.nowMs = waitMs;
  assert.equal(pace.waitMs(held), 0);
});

test('a long time without looks lets no more of them begin at once', () => {
  const { clock, waits } = paceAt();
  waits(1);
  clock.nowMs = 3_600_000;
  assert.deepEqual(new Set(waits(looksAtOnceMax)), new Set([0]));
  assert.deepEqual(waits(1), [5]);
});
