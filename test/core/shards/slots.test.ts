import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  isOlder,
  repeatedRouting,
  rescueRouting,
  residentLeadMs,
  residentSlotMs,
  slotAfter,
  slotAt,
  slotLengthMs,
  slotRouting,
  tickSlotMs,
} from '../../../shared/core/shards/slots.ts';
import { deduplicationWindowMs } from '../../../shared/queue/queue.ts';

const mode = fc.constantFrom('resident' as const, 'tick' as const);
const from = fc.integer({ min: 0, max: 255 });
const now = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
const named = { shard: '80', generation: 7 };

describe('slots', () => {
  test('one is always under way, as long as its mode says, and the next one follows without a gap', () => {
    fc.assert(
      fc.property(mode, from, now, (mode, from, nowMs) => {
        const current = slotAt({ mode, from }, nowMs);
        const next = slotAfter({ mode, from }, current);
        assert.ok(current.beginMs <= nowMs && nowMs < current.endMs);
        assert.equal(current.endMs - current.beginMs, slotLengthMs(mode));
        assert.equal(next.beginMs, current.endMs);
        assert.deepEqual(slotAt({ mode, from }, next.beginMs), next);
      }),
    );
  });

  test('two shards of a mode never end theirs together, and those of all 256 spread over a slot', () => {
    for (const mode of ['resident', 'tick'] as const) {
      const ends = Array.from({ length: 256 }, (_, from) => slotAt({ mode, from }, 1e12).endMs);
      assert.equal(new Set(ends).size, 256);
      assert.ok(Math.max(...ends) - Math.min(...ends) > 0.99 * slotLengthMs(mode));
    }
  });

  test('a message is sent 4 min before a resident slot, whose repetitions the queue still knows when it begins', () => {
    const slot = slotAt({ mode: 'resident', from: 3 }, 1e12);
    assert.equal(slot.beginMs - slot.sendFromMs, residentLeadMs);
    assert.ok(residentLeadMs < deduplicationWindowMs && residentLeadMs < residentSlotMs);
  });

  test('a schedule that runs each minute, whenever in it, leaves every tick slot half of its length', () => {
    fc.assert(
      fc.property(from, now, (from, nowMs) => {
        const current = slotAt({ mode: 'tick', from }, nowMs);
        const next = slotAfter({ mode: 'tick', from }, current);
        const sent = nowMs >= next.sendFromMs ? next : current;
        assert.ok(sent.endMs - nowMs >= tickSlotMs / 2 && nowMs >= sent.sendFromMs);
      }),
    );
  });
});

describe('routing', () => {
  test('a message is named by shard, generation and slot, a repetition also by the minute', () => {
    assert.deepEqual(slotRouting(named, 41), { group: '80', deduplicationId: '80/7/41' });
    assert.deepEqual(repeatedRouting(named, 41, 179_999), { group: '80', deduplicationId: '80/7/41/2' });
  });

  test('a rescue has a group of its own each minute', () =>
    assert.deepEqual(rescueRouting(named, 180_000), { group: 'rescue/80/3', deduplicationId: 'rescue/80/3' }));
});

describe('what RUN shows is older than a slot', () => {
  const rows = [
    ['no run has ever claimed it', undefined, true],
    ['the slot before', { generation: 7, slot: 40 }, true],
    ['this slot', { generation: 7, slot: 41 }, false],
    ['the next slot, begun early', { generation: 7, slot: 42 }, false],
    ['an older generation, whose slots are numbered in another way', { generation: 6, slot: 900 }, true],
    ['a newer generation', { generation: 8, slot: 2 }, false],
  ] as const;
  for (const [what, shown, expected] of rows)
    test(`${what}: ${expected}`, () => assert.equal(isOlder(shown, { generation: 7, slot: 41 }), expected));
});
