/** The schedule holds shards first and weighs afterwards, for as long as there is time. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { slotAt } from '../../shared/core/shards/slots.ts';
import { noWeight, weightFormula } from '../../shared/core/shards/weight.ts';
import { changeCounted, encodeWeight } from '../../shared/store/records/items.ts';
import { bucketName, targetAddress } from '../../shared/store/records/keys.ts';
import type { Query } from '../../shared/store/store.ts';
import { inScheduleWorld, minuteMs, nameIn, type ScheduleWorld, scheduleWorld } from './schedule-world.ts';

/** A world whose only shard has a holder that has just died, a minute into a slot that no run has begun. */
async function deserted(): Promise<ScheduleWorld> {
  const world = scheduleWorld();
  await world.register('checkout');
  await world.tick();
  const [shard] = (await world.layout()).shards;
  assert.ok(shard);
  await world.beat(shard, { slot: slotAt({ from: 0, mode: 'resident' }, world.clock.nowMs()).slot - 1 });
  await world.advance(2 * minuteMs);
  await world.register('cart', { periodSeconds: 5 });
  world.takeSent();
  return world;
}

/** Queries that match take so long to be answered. */
function delayQueries(world: ScheduleWorld, isSlow: (query: Query) => boolean, delayMs: number): void {
  const { query } = world.store;
  Object.assign(world.store, {
    query: async (asked: Query) => {
      if (isSlow(asked)) await new Promise<void>((resolve) => world.clock.setTimer(delayMs, resolve));
      return query(asked);
    },
  });
}

const kinds = (world: ScheduleWorld) => world.takeSent().map(({ message }) => message.kind);

describe('a schedule whose weighing takes for ever', () => {
  const reads: readonly (readonly [what: string, isSlow: (query: Query) => boolean, logged: string])[] = [
    ['targets', ({ pk }) => pk.startsWith('B#'), 'buckets not weighed in time'],
    ['stored weights', ({ pk }) => pk === 'WEIGHT', 'weights not read'],
    ['change counters', ({ pk }) => pk === 'CHANGES', 'weights not read'],
  ];
  for (const [what, isSlow, logged] of reads)
    test(`sends messages and rescues although reading ${what} never ends`, async () => {
      const world = await deserted();
      delayQueries(world, isSlow, 100 * minuteMs);
      const startedAtMs = world.clock.nowMs();
      const ticked = world.ticks();
      await world.advance(7_000);
      assert.deepEqual(kinds(world), ['slot', 'rescue']);
      const { noHolder } = await world.clock.runUntil(ticked);
      assert.deepEqual(noHolder, ['00']);
      assert.ok(world.clock.nowMs() - startedAtMs < 45_000, 'a function that runs the schedule has 50 s');
      assert.ok(world.log.lines.some(({ message }) => message === logged));
    });
});

test('a process that starts after a pause sends its shard the message at once', async () => {
  const world = await deserted();
  const ticked = world.ticks({ repeatCurrent: true });
  await world.advance(100);
  assert.deepEqual(kinds(world), ['slot']);
  await world.clock.runUntil(ticked);
});

describe('weighing', () => {
  const registered = Array.from({ length: 100 }, (_, index) => bucketName(index));

  inScheduleWorld('goes on in the next minute where there was no time for all buckets', async (world) => {
    for (const bucket of registered.slice(0, 50)) await world.register(nameIn(bucket));
    delayQueries(world, ({ pk }) => pk.startsWith('B#'), 1_000);
    const weighed: number[] = [];
    const weighings = () => world.queries.splice(0).filter(({ pk }) => pk.startsWith('B#')).length;
    for (let minute = 0; minute < 4; minute += 1) {
      await world.tick();
      weighed.push((await world.store.query({ pk: 'WEIGHT' })).length);
      weighings();
      await world.advance(minuteMs);
      assert.ok(weighings() <= 1, 'no bucket but the one under way is weighed when the time is over');
    }
    assert.equal(weighed.at(-1), 50);
    assert.ok((weighed[0] ?? 0) >= 15 && (weighed[0] ?? 50) < 50, `weighed by each minute: ${weighed.join(', ')}`);
  });

  inScheduleWorld('begins with other buckets each minute, where all of them change all the time', async (world) => {
    const change = async () => {
      for (const bucket of registered) await world.write([changeCounted(targetAddress('default', nameIn(bucket)))]);
    };
    const weighed = new Set<string>();
    for (let minute = 0; minute < 4; minute += 1) {
      await change();
      world.queries.splice(0);
      await world.tick();
      const asked = world.queries.splice(0).flatMap(({ pk }) => (pk.startsWith('B#') ? [pk] : []));
      // In the first minute all are weighed, since none has been yet.
      if (minute > 0) for (const pk of asked) weighed.add(pk);
      await world.advance(minuteMs);
    }
    assert.equal(weighed.size, registered.length);
  });

  inScheduleWorld('leaves no shard idle that has targets it has not weighed yet', async (world) => {
    await world.register('checkout');
    delayQueries(world, ({ pk }) => pk.startsWith('B#'), 100 * minuteMs);
    await world.tick();
    assert.deepEqual(kinds(world), ['slot']);
  });

  test('of another formula counts until its bucket is weighed again, a part of them each minute', async () => {
    const world = scheduleWorld();
    const stored = { ...noWeight, targets: 1, cpu: 0.001, sockets: 0.1, mode: 'resident' as const };
    for (const bucket of registered) {
      await world.write([changeCounted(targetAddress('default', nameIn(bucket)))]);
      const record = { ...stored, changes: 1, formula: weightFormula - 1 };
      await world.write([{ kind: 'put', item: encodeWeight(bucket, record) }]);
    }
    const weighings = () => world.queries.splice(0).filter(({ pk }) => pk.startsWith('B#')).length;
    const { layout } = await world.tick();
    assert.deepEqual([layout.length, layout[0]?.mode], [1, 'resident']);
    assert.equal(weighings(), 64);
    await world.advance(minuteMs);
    await world.tick();
    assert.equal(weighings(), 36);
  });
});
