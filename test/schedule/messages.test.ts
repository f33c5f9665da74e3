import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastBeat } from '../../shared/core/shards/beat.ts';
import type { LayoutShard } from '../../shared/core/shards/layout.ts';
import { aheadMsMax, slotAt } from '../../shared/core/shards/slots.ts';
import { isDoubtful, rescueMessage, slotMessages } from '../../shared/schedule/messages.ts';
import type { RunRecord } from '../../shared/store/records/shard-records.ts';

const nowMs = Date.UTC(2030, 0, 1);
/** Of a schedule whose clock was an hour ahead. */
const shard: LayoutShard = {
  shard: '00',
  generation: 1,
  mode: 'resident',
  from: 0,
  to: 256,
  sinceMs: nowMs + 3_600_000,
};

test('a shard whose beginning lies in the future is rescued once its beat is more than 30 s old', () => {
  const rescues = (silentMs: number) => {
    const run = { generation: 1, beatAtMs: nowMs - silentMs } as RunRecord;
    return rescueMessage({ shard, run }, nowMs).map(({ message }) => message.kind);
  };
  assert.deepEqual(rescues(29_000), []);
  assert.deepEqual(rescues(31_000), ['rescue']);
  assert.deepEqual(rescueMessage({ shard }, nowMs), [], 'its age is unknown');
});

test('a run is looked at again whose last beat lies further ahead than clocks may differ', () => {
  const old: LayoutShard = { ...shard, sinceMs: 0 };
  const doubted = (aheadMs: number) =>
    isDoubtful({ shard: old, run: { generation: 1, beatAtMs: nowMs + aheadMs, beat: 7 } as RunRecord }, nowMs);
  assert.deepEqual([0, aheadMsMax, aheadMsMax + 1].map(doubted), [false, false, true]);
});

test('a run that has ended the current slot is looked at again, however new its last beat is', () => {
  const old: LayoutShard = { ...shard, sinceMs: 0 };
  const { slot } = slotAt({ ...old, mode: 'resident' }, nowMs);
  const doubted = (fields: Partial<RunRecord>) =>
    isDoubtful(
      { shard: old, run: { generation: 1, beatAtMs: nowMs, beat: 7, doneSlot: slot - 1, ...fields } as RunRecord },
      nowMs,
    );
  assert.equal(doubted({}), false);
  assert.equal(doubted({ beat: lastBeat }), false, 'it ended its slot, and the current one is to be sent');
  assert.equal(doubted({ doneSlot: slot }), false, 'a rescue holds the slot that was done');
  assert.equal(doubted({ beat: lastBeat, doneSlot: slot }), true);
  assert.equal(doubted({ beat: lastBeat, doneSlot: slot, generation: 0 }), false, 'of another layout');
});

test('a message says which slot the schedule had seen, of this generation', () => {
  const current: LayoutShard & { mode: 'resident' } = { ...shard, mode: 'resident', sinceMs: 0 };
  const { slot } = slotAt(current, nowMs);
  const seen = (run?: Partial<RunRecord>) =>
    slotMessages(
      { shard: current, ...(run && { run: { generation: 1, slot: -1, doneSlot: -1, ...run } as RunRecord }) },
      nowMs,
      true,
    )[0]?.message.seenSlot;
  assert.equal(seen(), -1);
  assert.equal(seen({ slot }), slot);
  assert.equal(seen({ slot: slot - 1, doneSlot: slot + 5 }), slot + 5);
  assert.equal(seen({ slot, generation: 0 }), -1);
});
