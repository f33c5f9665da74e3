/** Which instants a run of tick mode covers, by what the one before has left. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotOf, tickSlotMs } from '../../shared/core/shards/slots.ts';
import { coveredBy } from '../../shared/holder/tick.ts';
import type { RunRecord } from '../../shared/store/records/shard-records.ts';

const beginOf = (slot: number): number => slotOf({ from: 0, mode: 'tick' }, slot).beginMs;

/** How many minutes before its own slot a run of slot 20 begins to cover. */
function minutesBack(slot: number, doneSlot: number): number {
  const before = { slot, doneSlot, beganAtMs: beginOf(slot) } as RunRecord;
  const { fromMs, toMs } = coveredBy({ buckets: { from: 0, to: 256 }, slot: 20 }, before, 0);
  assert.equal(toMs, beginOf(21));
  return (beginOf(20) - fromMs) / tickSlotMs;
}

test('after a slot that is done the next one is covered, and what no run has begun between them', () => {
  assert.equal(minutesBack(19, 19), 0);
  assert.equal(minutesBack(16, 16), 3);
});

test('after a crash everything since the last slot that is done is covered', () => {
  assert.equal(minutesBack(19, 18), 1);
  assert.equal(minutesBack(19, 16), 3);
});

test('after a crash in the first slot all of that is covered', () => assert.equal(minutesBack(19, -1), 1));
