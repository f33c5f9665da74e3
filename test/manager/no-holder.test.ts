import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tellNoHolder } from '../../shared/manager/no-holder.ts';
import type { ScheduledShard } from '../../shared/manager/shard-messages.ts';
import { minuteMs, scheduleWorld } from './schedule-world.ts';

describe('a shard without a holder whose range changes', () => {
  /** The buckets that subscribers are told of when nobody holds the shard, first with these ranges and then with those. */
  async function toldOf(...ranges: readonly (readonly ScheduledShard['shard'][])[]) {
    const world = scheduleWorld();
    const told: string[][] = [];
    for (const shards of ranges) {
      await world.advance(minuteMs);
      const scheduled = shards.map((shard) => ({ shard }));
      await world.clock.runUntil(tellNoHolder(world, scheduled, world.clock.nowMs()));
      told.push(world.takeEvents().map(({ detail }) => ('hashRange' in detail ? detail.hashRange : '')));
    }
    return told;
  }
  const shardOf = (shard: string, from: number, to: number) =>
    ({ shard, from, to, generation: 1, mode: 'resident', sinceMs: 0 }) as const;

  test('has all that was added to it told', async () => {
    const whole = [shardOf('00', 0, 256)];
    assert.deepEqual(await toldOf([shardOf('00', 0, 128)], whole, whole), [['00-7f'], ['00-ff'], ['00-ff']]);
  });

  test('goes on being told of what was taken from it, until that is held', async () => {
    assert.deepEqual(await toldOf([shardOf('00', 0, 256)], [shardOf('00', 0, 128)]), [['00-ff'], ['00-ff']]);
  });
});
