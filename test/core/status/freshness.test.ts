import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { behindMax, boundedObserved, isBehind, staleAfterMs } from '../../../shared/core/status/freshness.ts';

test('a result is stale after three periods, 40 s at least', () => {
  const staleAfter = [1, 10, 60].map((periodSeconds) => staleAfterMs(periodSeconds));
  assert.deepEqual(staleAfter, [40_000, 40_000, 180_000]);
});

test('in tick mode a period is a minute at least', () => {
  const staleAfter = [10, 60, 120].map((periodSeconds) => staleAfterMs(periodSeconds, true));
  assert.deepEqual(staleAfter, [180_000, 180_000, 360_000]);
});

test('a probe is behind 20 s after its period, or after its time-out if that is longer', () => {
  const rows = [
    [10, 1, 30_000, false],
    [10, 1, 30_001, true],
    [10, 60, 80_000, false],
    [10, 60, 80_001, true],
  ] as const;
  const behindAt = (nowMs: number, periodSeconds: number, timeoutSeconds: number, tick = false) =>
    isBehind({ seenAtMs: 0, periodSeconds, timeoutSeconds }, { nowMs, tick });
  for (const [periodSeconds, timeoutSeconds, ageMs, expected] of rows)
    assert.equal(behindAt(ageMs, periodSeconds, timeoutSeconds), expected, `${ageMs}`);
  assert.equal(behindAt(80_000, 10, 1, true), false);
});

describe('a beat names the probes that are behind', () => {
  const nowMs = 1_000_000;
  const behind = (count: number, isStale: boolean, sinceMs = 0) =>
    Array.from({ length: count }, (_, at) => ({ label: `${isStale}-${at}`, seenAtMs: sinceMs + at, isStale }));

  test('the stale ones first', () => {
    const { observedAtMs, behind: named } = boundedObserved(nowMs, [
      ...behind(behindMax, false),
      ...behind(1, true, 500),
    ]);
    assert.equal(observedAtMs, nowMs);
    assert.equal(Object.keys(named).length, behindMax);
    assert.equal(named['true-0'], 500);
    assert.equal(named[`false-${behindMax - 1}`], undefined, 'the one that was done last');
  });

  test('and nothing is fresher than the stale ones that it cannot name', () => {
    const { observedAtMs, behind: named } = boundedObserved(nowMs, behind(behindMax + 2, true, 700));
    assert.equal(observedAtMs, 700 + behindMax);
    assert.equal(Object.keys(named).length, behindMax);
  });
});
