import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endingClock } from '../../shared/lib/clock.ts';
import { virtualClock } from '../support/virtual-clock.ts';

test('until it ends a clock that can end is like the other', async () => {
  const inner = virtualClock();
  const clock = endingClock(inner);
  const ran: string[] = [];
  clock.setTimer(100, () => ran.push('set'));
  const cancel = clock.setTimer(100, () => ran.push('cancelled'));
  cancel();
  cancel();
  assert.equal(inner.pending(), 1);
  assert.deepEqual([clock.nowMs(), clock.monotonicMs()], [inner.nowMs(), inner.monotonicMs()]);
  await inner.advance(100);
  assert.deepEqual(ran, ['set']);
});

test('at its end every timer runs once and every deadline is over', async () => {
  const inner = virtualClock();
  const clock = endingClock(inner);
  const deadlineMs = clock.monotonicMs() + 60_000;
  const ran: string[] = [];
  clock.setTimer(60_000, () => ran.push('first'));
  const cancelSecond = clock.setTimer(60_000, () => ran.push('second'));
  clock.setTimer(60_000, cancelSecond);
  clock.end();
  assert.deepEqual(ran, ['first', 'second']);
  assert.ok(clock.monotonicMs() > deadlineMs);
  assert.equal(inner.pending(), 0);
});

test('what is set afterwards has a moment', async () => {
  const inner = virtualClock();
  const clock = endingClock(inner);
  clock.end();
  let ran = false;
  clock.setTimer(60_000, () => {
    ran = true;
  });
  await inner.advance(100);
  assert.equal(ran, true);
});
