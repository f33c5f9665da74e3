/** The world of `npm start` for a short while: what it claims of itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateStart } from './simulate.ts';

test('a seed is repeated event by event, files and the bounds of the bus included', async () => {
  const options = { seed: 1, hours: 0.75 };
  const first = await simulateStart(options);
  assert.deepEqual(first.violations, []);
  assert.deepEqual(await simulateStart(options), first);
});

test('bursts beside a slow or failing subscriber reach both bounds of the bus', async () => {
  const { reached, violations } = await simulateStart({ seed: 1, hours: 0.75, kinds: ['bus'] });
  assert.deepEqual(violations, []);
  assert.ok(reached.full > 0 && reached.failed > 0, JSON.stringify(reached));
});
