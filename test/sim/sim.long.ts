import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { keptSeeds } from './kept-seeds.ts';
import { repeatCommand, violationLines } from './report.ts';
import { type SeedOrder, simulatedApart } from './seed-threads.ts';
import { simulate } from './simulate.ts';

/** Seeds that took longer to fail are repeated in full by `npm run prove`; their first hour proves nothing. */
const hoursMax = 1;

const chosen: readonly SeedOrder[] = [
  { seed: 1, hours: 1 },
  { seed: 3, hours: 1 },
  ...(['functions', 'watched', 'site'] as const).map((world) => ({ seed: 1, hours: 1, world })),
];
const onceFailed: readonly SeedOrder[] = keptSeeds().filter(({ hours }) => hours <= hoursMax);
const orders = [...chosen, ...onceFailed];
const outcomes = simulatedApart(orders);
const nameOf = ({ seed, world = 'small' }: SeedOrder): string => `seed ${seed} of the world ${world}`;

describe('the simulated product', () => {
  for (const [at, order] of orders.entries())
    test(`keeps every invariant for ${nameOf(order)}${onceFailed.includes(order) ? ', which once failed' : ''}`, async () => {
      const outcome = await outcomes[at];
      assert.ok(outcome);
      assert.deepEqual(violationLines(outcome), [], repeatCommand(outcome));
    });

  test('is tried in each world', () => {
    const worlds = new Set(orders.map(({ world = 'small' }) => world));
    assert.deepEqual([...worlds].toSorted(), ['functions', 'site', 'small', 'tick', 'watched']);
  });

  test('repeats a seed event by event in another thread, and another seed is another world', async () => {
    const [first, other] = await Promise.all(outcomes.slice(0, 2));
    const { traceHash } = await simulate({ seed: 1, hours: 1 });
    assert.equal(traceHash, first?.traceHash);
    assert.notEqual(traceHash, other?.traceHash);
  });
});
