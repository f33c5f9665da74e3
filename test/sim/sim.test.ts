import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { keptSeeds } from './kept-seeds.ts';
import { repeatCommand, violationLines } from './report.ts';
import { simulateAll } from './seed-threads.ts';
import type { WorldName } from './setting.ts';
import { type Outcome, simulate } from './simulate.ts';

/** A seed that took longer to fail is not tried here, where its first hour would prove nothing, but in full by `npm run prove`. */
const hoursMax = 1;

async function assertHolds(seed: number, hours: number, world: WorldName = 'small'): Promise<string> {
  const outcome = await simulate({ seed, hours, world });
  assert.deepEqual(violationLines(outcome), [], repeatCommand(outcome));
  return outcome.traceHash;
}

describe('the simulated product', () => {
  test('keeps every invariant for three seeds, and one seed repeats itself event by event in another thread', async () => {
    const hash = await assertHolds(1, 1);
    await assertHolds(2, 1);
    const again: string[] = [];
    const onOutcome = ({ traceHash }: Outcome) => void again.push(traceHash);
    await simulateAll([{ seed: 1, hours: 1 }], { jobs: 1, onOutcome });
    assert.deepEqual(again, [hash]);
    assert.notEqual(await assertHolds(3, 1), hash);
  });

  for (const world of ['functions', 'tick', 'watched', 'site'] as const)
    test(`keeps them in the world ${world}`, async () => {
      await assertHolds(1, 1, world);
    });

  for (const { seed, hours, world } of keptSeeds().filter((kept) => kept.hours <= hoursMax))
    test(`keeps them for seed ${seed} of the world ${world ?? 'small'}, which once failed`, async () => {
      await assertHolds(seed, hours, world);
    });
});
