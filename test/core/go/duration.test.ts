import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { goDuration } from '../../../shared/core/go/text.ts';

describe('a duration reads as Go prints it', () => {
  const table: readonly (readonly [ms: number, text: string])[] = [
    [0, '0s'],
    [1, '1ms'],
    [500, '500ms'],
    [1000, '1s'],
    [1500, '1.5s'],
    [2050, '2.05s'],
    [60_000, '1m0s'],
    [61_500, '1m1.5s'],
    [3_600_000, '1h0m0s'],
  ];
  for (const [ms, text] of table) test(`${ms} ms is ${text}`, () => assert.equal(goDuration(ms), text));
});
