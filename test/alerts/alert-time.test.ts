/** Steady time, and at which of its instants the wall clock showed something. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { alertClock } from '../../shared/alerts/alert-time.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** A clock that is read once a minute, as alerts do, and the wall time and steady time of each reading. */
function readEachMinute() {
  const clock = virtualClock({ startMs: 1_000 * hourMs });
  const read = alertClock(clock);
  const readings: { readonly wallMs: number; readonly steadyMs: number }[] = [];
  const minutes = async (count: number) => {
    for (let minute = 0; minute < count; minute += 1) {
      await clock.advance(minuteMs);
      const { wallMs, steadyMs } = read();
      readings.push({ wallMs, steadyMs });
    }
  };
  return { clock, read, readings, minutes };
}

describe('a wall clock that is set', () => {
  for (const stepMs of [3 * hourMs, 30 * minuteMs, 2_000])
    test(`ahead by ${stepMs / 1_000} s moves no instant before it`, async () => {
      const { clock, read, readings, minutes } = readEachMinute();
      await minutes(10);
      clock.jump(stepMs);
      await minutes(10);
      const { steadyOf } = read();
      for (const { wallMs, steadyMs } of readings) assert.equal(steadyOf(wallMs), steadyMs);
    });

  test('back shows some instants twice: the later one counts', async () => {
    const { clock, read, readings, minutes } = readEachMinute();
    await minutes(10);
    clock.jump(-5 * minuteMs);
    await minutes(10);
    const { steadyOf } = read();
    const before = readings.slice(0, 4);
    const after = readings.slice(10);
    for (const { wallMs, steadyMs } of [...before, ...after]) assert.equal(steadyOf(wallMs), steadyMs);
  });

  test('again and again is remembered for the last steps', async () => {
    const { clock, read, readings, minutes } = readEachMinute();
    for (let step = 0; step < 30; step += 1) {
      await minutes(2);
      clock.jump(hourMs);
    }
    await minutes(2);
    const { steadyOf } = read();
    for (const { wallMs, steadyMs } of readings.slice(-2 * 14)) assert.equal(steadyOf(wallMs), steadyMs);
  });

  test('slowly, as NTP does, takes the place of no step', async () => {
    const { clock, read, readings, minutes } = readEachMinute();
    await minutes(5);
    clock.jump(2 * hourMs);
    await minutes(1);
    for (let reading = 0; reading < 100; reading += 1) {
      clock.jump(20);
      await minutes(1);
    }
    const { steadyOf } = read();
    for (const { wallMs, steadyMs } of readings.slice(0, 5)) assert.equal(steadyOf(wallMs), steadyMs);
  });

  test('never makes steady time go back, and no instant is later than now', async () => {
    const { clock, read, minutes } = readEachMinute();
    let lastMs = read().steadyMs;
    for (const stepMs of [hourMs, -5 * hourMs, 400, -400, 24 * hourMs]) {
      clock.jump(stepMs);
      await minutes(1);
      const { steadyMs, steadyOf } = read();
      assert.equal(steadyMs - lastMs, minuteMs);
      assert.ok(steadyOf(clock.nowMs() + hourMs) <= steadyMs);
      lastMs = steadyMs;
    }
  });
});
