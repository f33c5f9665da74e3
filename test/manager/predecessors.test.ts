import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inheritedFrom } from '../../shared/manager/predecessors.ts';
import type { ObservedRun } from '../../shared/store/run-of-epoch.ts';

const sound: ObservedRun = { observedAtMs: 5_000, degraded: false, degradedTold: false, late: [], lateOverflow: false };

describe('what a run inherits of several', () => {
  test('is as old as the oldest of them', () => {
    assert.equal(inheritedFrom([sound, { ...sound, observedAtMs: 3_000 }]).observedAtMs, 3_000);
    assert.equal(inheritedFrom([sound, undefined]).observedAtMs, 0, 'of one that cannot be read nothing is known');
  });

  test('names the probes that were late for any of them', () => {
    const runs = [{ ...sound, late: ['a', 'b'] }, { ...sound, late: ['b', 'c'] }, undefined];
    const { late, lateOverflow } = inheritedFrom(runs);
    assert.deepEqual([late, lateOverflow], [['a', 'b', 'c'], false]);
  });

  test('is that more were late than can be named, if one of them said so', () => {
    assert.equal(inheritedFrom([sound, { ...sound, lateOverflow: true }]).lateOverflow, true);
    assert.equal(inheritedFrom([sound, sound]).lateOverflow, false);
  });

  test('is that more were late than can be named, if together they name too many', () => {
    const runs = Array.from({ length: 100 }, (_, run) => ({
      ...sound,
      late: Array.from({ length: 100 }, (_, probe) => `default/target-${run}-${probe}#main#readiness`),
    }));
    assert.equal(inheritedFrom(runs).lateOverflow, true);
  });

  test('is a doubt, if one of them was in doubt', () => {
    const { degraded, degradedTold } = inheritedFrom([sound, { ...sound, degraded: true, degradedTold: true }]);
    assert.deepEqual([degraded, degradedTold], [true, true]);
  });
});
