import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { merge, newHistogram, quantile, record } from './histogram.ts';

function histogramOf(durationsMs: readonly number[]) {
  const histogram = newHistogram();
  for (const ms of durationsMs) record(histogram, ms);
  return histogram;
}

describe('a histogram of durations', () => {
  test('is exact for short ones, and within a percent for long ones', () => {
    const histogram = histogramOf(Array.from({ length: 100_000 }, (_, index) => index));
    assert.equal(quantile(histogram, 0.001), 99);
    for (const part of [0.5, 0.99, 0.999]) {
      const off = quantile(histogram, part) / (part * 100_000);
      assert.ok(off >= 0.999 && off <= 1.01, `${part}: off by ${off}`);
    }
    assert.equal(histogram.maxMs, 99_999);
    assert.equal(quantile(histogram, 1), 99_999);
    assert.ok(histogram.counts.size < 2_000);
  });

  test('two of them merged are one of both', () => {
    const both = histogramOf([1, 2, 3]);
    merge(both, histogramOf([10, 20, 30_000]));
    assert.deepEqual(both, histogramOf([1, 2, 3, 10, 20, 30_000]));
  });

  test('an empty one says 0', () => assert.equal(quantile(newHistogram(), 0.99), 0));
});
