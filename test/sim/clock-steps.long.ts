/** Worlds in which only the wall clocks go wrong. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Profile } from './faults.ts';
import { violationLines } from './report.ts';
import { simulatedApart } from './seed-threads.ts';

const profile: Profile = {
  skewMsMax: 2_000,
  faultEveryMs: 240_000,
  stormMs: 45 * 60_000,
  selfDoubt: true,
  queueVisibilityMs: 30_000,
  outageMs: 0,
  clockSteps: 'only',
};

const seeds = [1, 2];
const outcomes = simulatedApart(seeds.map((seed) => ({ seed, hours: 2, profile })));

describe('clocks that are set by an hour or a day, and set back', () => {
  for (const [at, seed] of seeds.entries())
    test(`never stop a probe for longer than a minute, seed ${seed}`, async () => {
      const outcome = await outcomes[at];
      assert.ok(outcome);
      assert.ok((outcome.faults.get('clock step') ?? 0) >= 10, 'clocks were set');
      assert.deepEqual(violationLines(outcome), []);
      assert.deepEqual(outcome.problems, []);
    });
});
