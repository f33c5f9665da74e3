import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AgainPace, atOnceMax } from '../../../shared/holder/probing/again-pace.ts';

/** A pace whose clock the test sets. */
function paceAt() {
  const clock = { nowMs: 1_000 };
  const pace = new AgainPace({ monotonicMs: () => clock.nowMs } as never);
  return {
    clock,
    pace,
    /** How long so many targets that have not waited have to wait. */
    waits: (count: number) => Array.from({ length: count }, () => pace.waitMs({ ticket: undefined })),
  };
}

const none = new Set([0]);

test('some targets at once do not wait, and each one after them waits 5 ms longer than the one before', () => {
  const { waits } = paceAt();
  assert.deepEqual(new Set(waits(atOnceMax)), none);
  assert.deepEqual(waits(3), [5, 10, 15]);
});

test('a target that waits keeps its place', () => {
  const { clock, pace, waits } = paceAt();
  waits(atOnceMax + 9);
  const held = { ticket: undefined };
  assert.equal(pace.waitMs(held), 50);
  clock.nowMs += 20;
  assert.equal(pace.waitMs(held), 30);
  clock.nowMs += 30;
  assert.equal(pace.waitMs(held), 0);
});

test('a long time without repeats lets no more of them begin at once', () => {
  const { clock, waits } = paceAt();
  waits(1);
  clock.nowMs += 3_600_000;
  assert.deepEqual(new Set(waits(atOnceMax)), none);
  assert.deepEqual(waits(1), [5]);
});

test('what is not acked makes repeats rarer, down to ten a second, and what is acked makes up for it soon', () => {
  const { pace, waits } = paceAt();
  waits(atOnceMax);
  const held = { ticket: undefined };
  assert.equal(pace.waitMs(held), 5);
  for (let look = 0; look < 1_000; look += 1) pace.found(false);
  assert.equal(pace.waitMs(held), 100);
  for (let look = 0; look < 30; look += 1) pace.found(true);
  assert.equal(pace.waitMs(held), 5);
});

test('a target that waits long asks again, because its turn may come sooner', () => {
  const { waits } = paceAt();
  assert.equal(Math.max(...waits(atOnceMax + 10_000)), 5_000);
});
