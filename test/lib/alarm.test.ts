import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alarmOf } from '../../shared/lib/alarm.ts';
import { virtualClock } from '../support/virtual-clock.ts';

/** Rings for each of these instants, in ms from now, and says when it rang for which. */
async function ringsFor(dueMs: readonly number[], advanceMs = 20) {
  const clock = virtualClock();
  const startMs = clock.nowMs();
  const waiting = dueMs.map((at) => startMs + at);
  const rings: { atMs: number; due: number[] }[] = [];
  const alarm = alarmOf(clock, () => {
    const due: number[] = [];
    while (waiting[0] !== undefined && waiting[0] <= clock.nowMs()) due.push((waiting.shift() ?? 0) - startMs);
    rings.push({ atMs: clock.nowMs() - startMs, due });
    if (due.length > 0) alarm.keepApart();
    if (waiting[0] !== undefined) alarm.set(waiting[0]);
  });
  if (waiting[0] !== undefined) alarm.set(waiting[0]);
  await clock.advance(advanceMs);
  return rings;
}

test('an alarm rings at each instant that is far enough from the one before', async () => {
  assert.deepEqual(await ringsFor([0, 2, 7, 10]), [
    { atMs: 0, due: [0] },
    { atMs: 2, due: [2] },
    { atMs: 7, due: [7] },
    { atMs: 10, due: [10] },
  ]);
});

test('what is due within 2 ms after a ring rings once, and never later than that', async () => {
  assert.deepEqual(await ringsFor([0, 1, 2, 3, 3, 4, 9, 10]), [
    { atMs: 0, due: [0] },
    { atMs: 2, due: [1, 2] },
    { atMs: 4, due: [3, 3, 4] },
    { atMs: 9, due: [9] },
    { atMs: 11, due: [10] },
  ]);
});

test('an alarm that is set to ring at once does not wait', async () => {
  const clock = virtualClock();
  const startMs = clock.nowMs();
  const rings: number[] = [];
  const alarm = alarmOf(clock, () => rings.push(clock.nowMs() - startMs));
  alarm.set(startMs + 5);
  await clock.advance(5);
  alarm.keepApart();
  alarm.set(startMs + 6);
  alarm.setAtOnce();
  await clock.advance(1);
  assert.deepEqual(rings, [5, 5]);
});

test('a jump of the wall clock does not make an alarm wait', async () => {
  const clock = virtualClock();
  const rings: number[] = [];
  const alarm = alarmOf(clock, () => rings.push(clock.monotonicMs()));
  alarm.keepApart();
  clock.jump(-3_600_000);
  alarm.set(clock.nowMs());
  await clock.advance(10);
  assert.deepEqual(rings, [2]);
});
