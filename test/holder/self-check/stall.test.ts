import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stallWatch } from '../../../shared/holder/self-check/stall.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { testsIn } from '../../support/tests-in.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const inVirtualTime = testsIn(() => virtualClock());
const inWatched = testsIn(() => {
  const clock = virtualClock();
  const stalls = stallWatch(clock);
  return { clock, stalls, unwatch: stalls.watch() };
});

inWatched('a loop that keeps its time has no stalls', async ({ clock, stalls, unwatch }) => {
  await clock.advance(10_000);
  assert.equal(stalls.stalledSince(0), false);
  assert.equal(stalls.recent(), 0);
  unwatch();
});

inWatched(
  'a pause is a stall of the probes that it overlaps, and of no later one',
  async ({ clock, stalls, unwatch }) => {
    await clock.advance(500);
    clock.stand(5_000);
    await clock.advance(100);
    assert.equal(stalls.stalledSince(100), true);
    assert.equal(stalls.stalledSince(clock.monotonicMs()), false);
    assert.equal(stalls.recent(), 1);
    unwatch();
  },
);

inWatched('a pause is seen by the first look after it', ({ clock, stalls, unwatch }) => {
  clock.stand(5_000);
  assert.equal(stalls.stalledSince(0), true);
  unwatch();
  assert.equal(stalls.stalledSince(0), true);
});

inVirtualTime('nothing is watched, and no timer set, soon after the last probe in flight', async (clock) => {
  const stalls = stallWatch(clock);
  const [first, second] = [stalls.watch(), stalls.watch()];
  assert.equal(clock.pending(), 1);
  first();
  first();
  assert.equal(clock.pending(), 1);
  second();
  await clock.advance(100);
  assert.equal(clock.pending(), 0);
  clock.stand(5_000);
  assert.equal(stalls.stalledSince(0), false);
});

inVirtualTime('no timer is left once the watch has stopped and the last probe is over', (clock) => {
  const stalls = stallWatch(clock);
  const [first, last] = [stalls.watch(), stalls.watch()];
  first();
  stalls.stop();
  assert.equal(clock.pending(), 1);
  last();
  assert.equal(clock.pending(), 0);
});

inVirtualTime('a pause right after a watch is no stall of the next one', async (clock) => {
  const stalls = stallWatch(clock);
  stalls.watch()();
  clock.stand(5_000);
  const unwatch = stalls.watch();
  await clock.advance(200);
  unwatch();
  assert.equal(stalls.stalledSince(0), false);
});

test('a real event loop that is blocked', async () => {
  const stalls = stallWatch(systemClock);
  const beganAtMs = systemClock.monotonicMs();
  const unwatch = stalls.watch();
  for (const startMs = performance.now(); performance.now() - startMs < 300; );
  assert.equal(stalls.stalledSince(beganAtMs), true);
  unwatch();
});

describe('a late loop whose process', () => {
  const pauses: readonly (readonly [what: string, cpuShare: number, recent: number])[] = [
    ['used the CPU all the time was at work', 1, 0],
    ['used the 7 % of a core that the smallest function has was at work', 0.07, 0],
    ['used next to no CPU stood still', 0.01, 1],
  ];
  for (const [what, cpuShare, recent] of pauses)
    inVirtualTime(`${what}, and voids what it overlapped`, async (clock) => {
      const cpu = { ms: 0 };
      const stalls = stallWatch(clock, () => cpu.ms);
      const unwatch = stalls.watch();
      await clock.advance(500);
      clock.stand(2_000);
      cpu.ms += 2_000 * cpuShare;
      assert.equal(stalls.recent(), recent, 'before the next tick');
      await clock.advance(100);
      assert.equal(stalls.recent(), recent);
      assert.equal(stalls.stalledSince(100), true);
      unwatch();
    });
});
