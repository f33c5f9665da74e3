/** kubelet's back-off by its documented steps: 10 s, doubled with each restart, at most 300 s, reset after 10 min. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BackOff, nextBackOff, startsAtMs } from './back-off.ts';

test('there is none while kubelet knows no container that has ended', () => {
  assert.equal(startsAtMs(undefined, undefined), 0);
  assert.equal(nextBackOff(undefined, undefined, 1_000), undefined);
});

test('doubles from 10 s to 300 s', () => {
  const steps: number[] = [];
  let backOff: BackOff | undefined;
  for (let nowMs = 0; steps.length < 7; nowMs += 1_000) {
    backOff = nextBackOff(backOff, nowMs, nowMs);
    steps.push(backOff?.ms ?? 0);
  }
  assert.deepEqual(steps, [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
});

test('counts from the end of a container', () => {
  assert.equal(startsAtMs({ ms: 20_000, updatedAtMs: 5_000 }, 30_000), 50_000);
});

test('is forgotten when nothing has ended for twice the longest', () => {
  const backOff = { ms: 80_000, updatedAtMs: 0 };
  assert.equal(startsAtMs(backOff, 600_001), 0);
  assert.equal(nextBackOff(backOff, 600_001, 600_001)?.ms, 10_000);
});
