import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lateness } from '../../../shared/holder/probing/lateness.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const boundsMs = [10, 100, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000];

test('each begin counts in all buckets whose bound it does not exceed, as in a histogram of Prometheus', () => {
  const lateness = new Lateness(virtualClock());
  const begins = boundsMs.flatMap((boundMs) => [boundMs, boundMs + 1]);
  for (const lateMs of [-5, ...begins]) lateness.began(lateMs);
  const countOf = (leMs: number) => 1 + begins.filter((lateMs) => lateMs <= leMs).length;
  assert.deepEqual(lateness.counts(), {
    buckets: boundsMs.map((leMs) => ({ leMs, count: countOf(leMs) })),
    count: begins.length + 1,
    sumMs: begins.reduce((sum, lateMs) => sum + lateMs, 0),
  });
});
