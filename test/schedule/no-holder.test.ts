import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BusEvent } from '../../shared/bus/events.ts';
import type { ScheduledShard } from '../../shared/schedule/messages.ts';
import { publishNoHolder } from '../../shared/schedule/no-holder.ts';
import type { RunRecord } from '../../shared/store/records/shard-records.ts';
import { beforeWrite } from '../support/store-wraps.ts';
import { inScheduleWorld, minuteMs, scheduleWorld } from './schedule-world.ts';

describe('a shard without a holder whose range changes', () => {
  /** The buckets of the published NoHolder events, first with these ranges and then with those. */
  async function publishedOf(...ranges: readonly (readonly ScheduledShard['shard'][])[]) {
    const world = scheduleWorld();
    const publishedEvents: string[][] = [];
    for (const shards of ranges) {
      await world.advance(minuteMs);
      const scheduled = shards.map((shard) => ({ shard }));
      await world.clock.runUntil(publishNoHolder(world, scheduled, world.clock.nowMs()));
      publishedEvents.push(world.takeEvents().map(({ detail }) => ('hashRange' in detail ? detail.hashRange : '')));
    }
    return publishedEvents;
  }
  const shardOf = (shard: string, from: number, to: number) =>
    ({ shard, from, to, generation: 1, mode: 'resident', sinceMs: 0 }) as const;

  test('is published with the range that was added', async () => {
    const whole = [shardOf('00', 0, 256)];
    assert.deepEqual(await publishedOf([shardOf('00', 0, 128)], whole, whole), [['00-7f'], ['00-ff'], ['00-ff']]);
  });

  test('is published with the range that was taken from it, until that is held', async () =>
    assert.deepEqual(await publishedOf([shardOf('00', 0, 256)], [shardOf('00', 0, 128)]), [['00-ff'], ['00-ff']]));
});

const anyRun: RunRecord = {
  ...{ token: 1, generation: 1, slot: 1, doneSlot: 0, beat: 1, beatAtMs: 0, observedAtMs: 0 },
  degraded: false,
};

const rangesOf = (events: readonly BusEvent[], detailType: BusEvent['detailType']): readonly string[] =>
  events.flatMap((event) =>
    event.detailType === detailType && 'hashRange' in event.detail ? [event.detail.hashRange] : [],
  );

describe('two schedules that look in the same moment', () => {
  inScheduleWorld('publish the recovery of every range that either of them published as degraded', async (world) => {
    const shardOf = (shard: string, from: number, to: number) => ({
      shard: { shard, from, to, generation: 1, mode: 'resident', sinceMs: 0 } as const,
    });
    const [low, high] = [shardOf('00', 0, 128), shardOf('80', 128, 256)];
    await world.advance(minuteMs);
    const nowMs = world.clock.nowMs();
    let isFirst = true;
    /** The other schedule, which knows of one shard only, is faster. */
    const store = beforeWrite(async () => {
      if (isFirst) {
        isFirst = false;
        await publishNoHolder(world, [high], nowMs);
      }
      return undefined;
    })(world.store);
    await world.clock.runUntil(publishNoHolder({ ...world, store }, [low, high], nowMs));
    const degraded = rangesOf(world.takeEvents(), 'Prober Degraded');
    assert.deepEqual(new Set(degraded), new Set(['00-7f', '80-ff']));

    await world.advance(minuteMs);
    const laterMs = world.clock.nowMs();
    const held = [low, high].map(({ shard }) => ({ shard, run: { ...anyRun, beatAtMs: laterMs } }));
    await world.clock.runUntil(publishNoHolder(world, held, laterMs));
    assert.deepEqual(new Set(rangesOf(world.takeEvents(), 'Prober Recovered')), new Set(degraded));
  });
});

describe('a schedule whose record others keep changing', () => {
  const parts = ['00', '40', '80', 'c0'];
  const [own, ...others] = parts.map((shard, index) => ({
    shard: { shard, from: index * 64, to: index * 64 + 64, generation: 1, mode: 'resident', sinceMs: 0 } as const,
  }));

  for (const [changes, isPublished] of [
    [0, true],
    [1, true],
    [2, true],
    [3, false],
  ] as const)
    inScheduleWorld(`tries three times: ${changes} changes`, async (world) => {
      assert.ok(own);
      await world.advance(minuteMs);
      const nowMs = world.clock.nowMs();
      const foreign = others.slice(0, changes);
      const store = beforeWrite(async () => {
        const other = foreign.shift();
        if (!other) return undefined;
        await publishNoHolder(world, [other], nowMs);
        world.takeEvents();
        return undefined;
      })(world.store);
      await world.clock.runUntil(publishNoHolder({ ...world, store }, [own], nowMs));
      const published = rangesOf(world.takeEvents(), 'Prober Degraded');
      assert.equal(published.includes('00-3f'), isPublished, published.join());
    });
});
