import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  aloneNeeds,
  controlNeeds,
  descriptorLimit,
  descriptorShares,
  workerNeeds,
} from '../../../functions/local/process/descriptors.ts';

test('with as many descriptors as a function has, probes have 700', () => {
  assert.deepEqual(descriptorShares(1_024, aloneNeeds), { connectionsMax: 236, watchersMax: 100, probesMax: 700 });
  assert.deepEqual(descriptorShares(1_024, workerNeeds), { connectionsMax: 16, watchersMax: 8, probesMax: 700 });
});

test('without a limit there are no more than that', () => {
  const shares = { connectionsMax: 512, watchersMax: 100, probesMax: 700 };
  for (const needs of [aloneNeeds, controlNeeds])
    assert.deepEqual(descriptorShares(Number.POSITIVE_INFINITY, needs), shares);
});

test('with few, the process, its API and its probes each have a part, and together no more than all', () => {
  for (const needs of [aloneNeeds, workerNeeds])
    for (let limit = 1; limit <= 4_096; limit *= 2) {
      const { connectionsMax, watchersMax, probesMax } = descriptorShares(limit, needs);
      assert.ok(connectionsMax >= 1 && probesMax >= 1 && watchersMax < connectionsMax, `${limit}: ${connectionsMax}`);
      if (limit < 16) continue;
      const reserved = limit - connectionsMax - probesMax;
      assert.ok(reserved >= Math.min(needs.reserved, limit / 2), `${limit}: ${reserved} reserved`);
    }
});

test('the limit of this process is read from the system', () => {
  const limit = descriptorLimit();
  assert.ok(limit >= 64, `${limit} descriptors`);
});
