/** Ages as kubectl prints them, and durations of options. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ageText } from '../../../functions/cli/printing/durations.ts';
import { milliseconds } from '../../../functions/cli/words/option-values.ts';

describe('an age', () => {
  /** Of TestHumanDuration in k8s.io/apimachinery/pkg/util/duration. */
  const s = 1_000;
  const m = 60 * s;
  const h = 60 * m;
  const d = 24 * h;
  const y = 365 * d;
  for (const [ms, text] of [
    [-2 * s, '<invalid>'],
    [-1.5 * s, '0s'],
    [0, '0s'],
    [s - 1, '0s'],
    [70 * s, '70s'],
    [119 * s, '119s'],
    [3 * m, '3m'],
    [3 * m + 20 * s, '3m20s'],
    [10 * m + 5 * s, '10m'],
    [2 * h + 59 * m, '179m'],
    [3 * h, '3h'],
    [3 * h + 30 * m, '3h30m'],
    [9 * h + 30 * m, '9h'],
    [47 * h, '47h'],
    [2 * d, '2d'],
    [2 * d + 2 * h, '2d2h'],
    [8 * d + 2 * h, '8d'],
    [y + d, '366d'],
    [2 * y, '2y'],
    [2 * y + 3 * d, '2y3d'],
    [8 * y + 3 * d, '8y'],
  ] as const)
    test(`of ${ms} ms is ${text}`, () => assert.equal(ageText(ms), text));
});

test('a duration has a unit, or counts seconds', () => {
  assert.deepEqual(['500ms', '5', '5s', '2m', '1h'].map(milliseconds), [500, 5_000, 5_000, 120_000, 3_600_000]);
  for (const wrong of ['', '0', '-1s', '1d', 's', '25h', '1.5s', '5 s'])
    assert.throws(() => milliseconds(wrong), /must be a duration/);
});
