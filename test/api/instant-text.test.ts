/** Instants are written as JavaScript writes them; those of a status in whole seconds, as Kubernetes does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { instantText, secondText } from '../../shared/api/targets/instant-text.ts';

const rangeMs = 8.64e15;
const dayMs = 86_400_000;

describe('an instant of the API', () => {
  it('is written as JavaScript writes it, so that texts sort as their instants do', () => {
    const days = fc.integer({ min: -3, max: 3 }).map((days) => days * dayMs);
    const ofAnEdge = fc.tuple(days, fc.integer({ min: -2, max: 2 })).map(([day, ms]) => day + ms);
    const ofASecond = fc.integer({ min: -1e12, max: 1e12 }).map((seconds) => seconds * 1_000);
    const anyInstant = fc.oneof(
      ofAnEdge,
      ofASecond,
      fc.integer({ min: -rangeMs, max: rangeMs }),
      fc.double({ min: 0, max: 1e13, noNaN: true }),
    );
    fc.assert(
      fc.property(anyInstant, (timeMs) => {
        assert.equal(instantText(timeMs), new Date(timeMs).toISOString());
        const second = new Date(Math.floor(timeMs / 1_000) * 1_000);
        if (Math.abs(second.getTime()) <= rangeMs)
          assert.equal(secondText(timeMs), second.toISOString().replace('.000Z', 'Z'));
      }),
      { numRuns: 1_000 },
    );
  });

  it('throws where there is no such instant', () => {
    for (const timeMs of [Number.NaN, Number.POSITIVE_INFINITY, 2 * rangeMs])
      assert.throws(() => instantText(timeMs), RangeError);
  });
});
