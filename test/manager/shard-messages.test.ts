import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LayoutShard } from '../../shared/core/layout.ts';
import { rescueMessage } from '../../shared/manager/shard-messages.ts';
import type { RunRecord } from '../../shared/store/items.ts';

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
  assert.deepEqual(rescueMessage({ shard }, nowMs), [], 'nobody can tell how long it has been there');
});
