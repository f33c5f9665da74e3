import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedLate, lateMax, staleAfterMs } from '../../shared/core/freshness.ts';

test('a result is stale after three periods, 40 s at least', () => {
  const staleAfter = [1, 10, 60].map((periodSeconds) => staleAfterMs(periodSeconds));
  assert.deepEqual(staleAfter, [40_000, 40_000, 180_000]);
});

test('in tick mode a period is a minute at least', () => {
  const staleAfter = [10, 60, 120].map((periodSeconds) => staleAfterMs(periodSeconds, true));
  assert.deepEqual(staleAfter, [180_000, 180_000, 360_000]);
});

test('a beat names so many late probes, and says when there are more', () => {
  const names = Array.from({ length: lateMax + 1 }, (_, at) => `default/target-${at}#main#readiness`);
  assert.deepEqual(boundedLate(names.slice(1)), { late: names.slice(1), lateOverflow: false });
  assert.deepEqual(boundedLate(names), { late: names.slice(0, lateMax), lateOverflow: true });
});
