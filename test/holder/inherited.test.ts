import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inheritedFrom } from '../../shared/holder/inherited.ts';
import type { ObservedRun } from '../../shared/store/records/shard-records.ts';

const sound: ObservedRun = { observedAtMs: 5_000, degraded: false, degradedTold: false, behind: {} };

describe('what a run inherits of several', () => {
  test('is as old as the oldest of them', () => {
    assert.equal(inheritedFrom([sound, { ...sound, observedAtMs: 3_000 }]).observedAtMs, 3_000);
    assert.equal(inheritedFrom([sound, undefined]).observedAtMs, 0, 'of one that cannot be read nothing is known');
  });

  test('names the probes that were behind for any of them, with the earlier time', () => {
    const runs = [
      { ...sound, behind: { a: 1_000, b: 2_000 } },
      { ...sound, behind: { b: 1_500, c: 3_000 } },
      undefined,
    ];
    assert.deepEqual(inheritedFrom(runs).behind, { a: 1_000, b: 1_500, c: 3_000 });
  });

  test('is older than all of them, if together they name too many', () => {
    const runs = Array.from({ length: 2 }, (_, run) => ({
      ...sound,
      behind: Object.fromEntries(
        Array.from({ length: 100 }, (_, probe) => [`default/${run}-${probe}#main#readiness`, 1_000 + probe]),
      ),
    }));
    const { observedAtMs, behind } = inheritedFrom(runs);
    assert.deepEqual([observedAtMs, Object.keys(behind).length], [1_050, 100]);
  });

  test('is a doubt, if one of them was in doubt', () => {
    const { degraded, degradedTold } = inheritedFrom([sound, { ...sound, degraded: true, degradedTold: true }]);
    assert.deepEqual([degraded, degradedTold], [true, true]);
  });

  test('is an overload, if one of them was overloaded', () => {
    const { overloaded, overloadedTold } = inheritedFrom([sound, { ...sound, overloaded: true }]);
    assert.deepEqual([overloaded, overloadedTold], [true, true], 'told, where nothing else is stored');
    const one = inheritedFrom([sound]);
    assert.deepEqual([one.overloaded, one.overloadedTold], [false, false]);
  });
});
