/** The minute function: late, twice, or not at all. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Capacity, type LayoutShard, unlimitedCapacity } from '../../shared/core/shards/layout.ts';
import { residentSlotMs, slotAt } from '../../shared/core/shards/slots.ts';
import { announceLayout } from '../../shared/schedule/layout.ts';
import { generationAttribute } from '../../shared/store/records/items.ts';
import { layoutKey } from '../../shared/store/records/keys.ts';
import { StoreUnavailable } from '../../shared/store/store.ts';
import { currentLayout } from '../support/current-layout.ts';
import { testsIn } from '../support/tests-in.ts';
import { minuteMs, nameIn, type ScheduleWorld, scheduleWorld } from './schedule-world.ts';

const slotMinutes = residentSlotMs / minuteMs;

const names = (sent: readonly { readonly deduplicationId: string }[]) =>
  sent.map(({ deduplicationId }) => deduplicationId);

/** One probe at a time-out as long as its period is this share of a holder. */
const tiny: Capacity = { cpu: 1, sockets: 2, memory: 1_000_000 };
const hanging = { periodSeconds: 10, timeoutSeconds: 10 };

const residentSlot = ({ clock }: ScheduleWorld, laterMs = 0) =>
  slotAt({ from: 0, mode: 'resident' }, clock.nowMs() + laterMs);

async function onlyShard(world: ScheduleWorld): Promise<LayoutShard> {
  const [shard, ...others] = (await world.layout()).shards;
  assert.ok(shard && others.length === 0);
  return shard;
}

/** A world with two targets that are too much for one holder. */
async function splitWorld() {
  const world = scheduleWorld({ capacity: tiny });
  for (const bucket of ['10', '90']) await world.register(nameIn(bucket), hanging);
  return world;
}

/** A world with one target in one resident shard that is held, at the beginning of a slot. */
async function heldWorld() {
  const world = scheduleWorld();
  await world.register('checkout');
  await world.tick();
  const shard = await onlyShard(world);
  const { endMs } = residentSlot(world);
  await world.advance(endMs - world.clock.nowMs());
  await world.beat(shard);
  world.takeSent();
  world.takeEvents();
  return { world, shard, slot: residentSlot(world).slot };
}

const inHeld = testsIn(() => heldWorld());

const inSplit = testsIn(() => splitWorld());

const inWorld = testsIn(() => scheduleWorld());

describe('with no targets', () => {
  inWorld('there is one idle shard, nothing is sent, and no NoHolder is published', async (world) => {
    for (let minute = 0; minute < 5; minute += 1) {
      await world.tick();
      await world.advance(minuteMs);
    }
    assert.deepEqual([(await onlyShard(world)).mode, world.sent, world.events], ['idle', [], []]);
  });

  inWorld('the first target is held within the minute, and the last purge leaves an idle shard', async (world) => {
    await world.tick();
    await world.register('checkout');
    await world.tick();
    const sent = world.takeSent().map(({ message }) => [message.shard, message.generation]);
    assert.deepEqual(sent, [['00', 2]]);
    await world.purge('checkout');
    for (let minute = 0; minute <= 11; minute += 1) {
      await world.beat(await onlyShard(world));
      await world.tick();
      await world.advance(minuteMs);
    }
    assert.equal((await onlyShard(world)).mode, 'idle');
    world.takeSent();
    await world.advance(10 * minuteMs);
    await world.tick();
    assert.deepEqual([world.sent, world.events], [[], []]);
  });

  test('a shard that is always resident is held all the same', async () => {
    const world = scheduleWorld({ mode: 'resident' });
    await world.tick();
    assert.equal(world.sent.length, 1);
  });
});

describe('a layout', () => {
  inSplit('is announced once the queue has taken all its messages, be it a minute later', async (world) => {
    world.refused.groups.add('00');
    await world.tick();
    const announced = async () => (await world.store.get(layoutKey))?.announced;
    const { version } = await world.layout();
    assert.notEqual(await announced(), version);
    world.refused.groups.clear();
    await world.advance(minuteMs);
    const tickedAtMs = world.clock.nowMs();
    await world.tick();
    assert.deepEqual([(await world.layout()).version, await announced()], [version, version]);
    assert.equal((await world.store.get(layoutKey))?.announcedAtMs, tickedAtMs);
  });

  inWorld('that another schedule has written is not announced by the sender of the one before', async (world) => {
    await world.tick();
    await world.write([{ kind: 'update', key: layoutKey, set: { version: 9 } }]);
    await world.clock.runUntil(announceLayout(world, { version: 2, shards: [] }));
    assert.notEqual((await world.store.get(layoutKey))?.announced, 2);
  });

  inWorld('that the store does not take is no error of the schedule, but a defect is', async (world) => {
    const announcing = (error: Error) => {
      const store = { ...world.store, write: () => Promise.reject(error) };
      return world.clock.runUntil(announceLayout({ ...world, store }, { version: 2, shards: [] }));
    };
    await announcing(new StoreUnavailable('full'));
    const [line] = world.log.lines.slice(-1);
    assert.deepEqual([line?.message, line?.fields?.version], ['layout not announced', 2]);
    await assert.rejects(announcing(new TypeError('a defect')), TypeError);
  });
});

describe('messages of a slot', () => {
  inHeld('are sent from 4 min before it, under one id however often', async ({ world, shard, slot }) => {
    const sentAt: number[] = [];
    for (let minute = 0; minute < slotMinutes; minute += 1) {
      await world.beat(shard, { slot });
      await world.tick();
      await world.tick();
      for (const { deduplicationId } of world.takeSent()) {
        assert.equal(deduplicationId, `00/${shard.generation}/${slot + 1}`);
        sentAt.push(minute);
      }
      await world.advance(minuteMs);
    }
    const minutes = [4, 3, 2, 1].map((before) => slotMinutes - before);
    assert.deepEqual([...new Set(sentAt)], minutes);
  });

  inHeld('say which buckets, which generation and until when', async ({ world, shard }) => {
    await world.advance((slotMinutes - 4) * minuteMs);
    await world.beat(shard, { slot: residentSlot(world).slot });
    await world.tick();
    const { slot, endMs } = residentSlot(world, 4 * minuteMs);
    assert.deepEqual(world.sent[0]?.message, {
      kind: 'slot',
      shard: '00',
      generation: shard.generation,
      buckets: { from: 0, to: 256 },
      slot,
      slotEndMs: endMs,
      sentAtMs: world.clock.nowMs(),
      seenSlot: slot - 1,
    });
  });

  inHeld(
    'are repeated each minute, under the minute’s id, while RUN shows an older slot',
    async ({ world, shard, slot }) => {
      await world.beat(shard, { slot: slot - 1 });
      await world.tick();
      await world.tick();
      await world.advance(minuteMs);
      await world.beat(shard, { slot: slot - 1 });
      await world.tick();
      const minute = Math.floor(world.clock.nowMs() / minuteMs);
      const id = `00/${shard.generation}/${slot}`;
      assert.deepEqual(names(world.takeSent()), [`${id}/${minute - 1}`, `${id}/${minute - 1}`, `${id}/${minute}`]);
    },
  );

  inHeld('of a slot that is held already go out again when the queue has forgotten everything', async ({ world }) => {
    await world.tick();
    assert.deepEqual(world.takeSent(), []);
    await world.tick({ repeatCurrent: true });
    assert.equal(world.sent.length, 1);
  });

  inSplit('of one shard that the queue does not take do not hold up the others', async (world) => {
    world.refused.groups.add('00');
    const outcome = await world.tick();
    assert.ok(outcome.layout.length > 1);
    assert.deepEqual([outcome.sent, outcome.notSent], [outcome.layout.length - 1, 1]);
  });

  inWorld('of a shard that only needs ticks go out once a minute, and say so', async (world) => {
    await world.register('slow', { periodSeconds: 60 });
    const slots: number[] = [];
    for (let minute = 0; minute < 5; minute += 1) {
      await world.tick();
      const shard = await onlyShard(world);
      for (const { message } of world.takeSent()) {
        assert.equal(message.mode, 'tick');
        slots.push(message.slot);
        await world.beat(shard, { slot: message.slot, doneSlot: message.slot });
      }
      await world.advance(minuteMs);
    }
    const consecutive = slots.map((_, index) => (slots[0] ?? 0) + index);
    assert.deepEqual(slots, consecutive);
    assert.ok(slots.length >= 5);
  });
});

describe('whenever the schedule runs', () => {
  /** Holds what it receives until the slot ends; every beat is on time. */
  async function holder(world: ScheduleWorld, held: [slot: number, fromMs: number, toMs: number][]) {
    for (;;) {
      const received = await world.receiver.receive(20_000);
      if (!received) continue;
      const message = JSON.parse(received.body);
      const drop = await world.judgeNow(message);
      if (drop === undefined) {
        const fromMs = world.clock.nowMs();
        const shard = (await world.layout()).shards[0] as LayoutShard;
        while (world.clock.nowMs() < message.slotEndMs) {
          await world.beat(shard, { slot: message.slot });
          await received.lease.extend(15_000);
          await new Promise<void>((resolve) => {
            world.clock.setTimer(Math.min(5_000, message.slotEndMs - world.clock.nowMs()), resolve);
          });
        }
        await world.beat(shard, { slot: message.slot, doneSlot: message.slot });
        held.push([message.slot, fromMs, world.clock.nowMs()]);
      }
      await received.acknowledge();
    }
  }

  const rhythms: readonly (readonly [what: string, delaysMs: readonly number[]])[] = [
    ['on time', [60_000]],
    ['twice', [0, 60_000]],
    ['late', [60_000, 110_000, 10_000, 95_000, 25_000]],
    ['with three minutes missing', [60_000, 60_000, 240_000]],
    ['twice, late and with minutes missing', [0, 170_000, 3_000, 0, 57_000, 200_000]],
  ];
  for (const [what, delaysMs] of rhythms)
    inWorld(`${what}: every slot is held once, from its beginning to its end`, async (world) => {
      await world.register('checkout');
      await world.tick();
      const held: [number, number, number][] = [];
      void holder(world, held);
      for (let at = 0; world.clock.pending() >= 0 && held.length < 6; at += 1) {
        await world.ticks();
        await world.advance(delaysMs[at % delaysMs.length] ?? 0);
      }
      for (const [index, [slot, fromMs]] of held.entries()) {
        const before = held[index - 1];
        if (!before) continue;
        assert.equal(slot, before[0] + 1);
        assert.ok(fromMs - before[2] < 1_000, `${what}: ${fromMs - before[2]} ms unheld`);
      }
      assert.ok(held.slice(1).every(([, fromMs, toMs]) => toMs - fromMs >= residentSlotMs - 1_000));
    });
});

describe('a layout that changes in the middle of a slot', () => {
  inSplit('sends messages to the new ranges alone, and makes old messages worthless', async (world) => {
    const before = (await world.tick()).layout;
    const old = world.takeSent();
    assert.deepEqual(before.map(({ shard }) => shard).slice(0, 1), ['00']);
    for (const shard of before) await world.beat(shard);
    await world.advance(minuteMs);
    await world.register(nameIn('a0'), hanging);
    for (const shard of before) await world.beat(shard);
    const after = (await world.tick()).layout;
    const changed = after.filter(
      (shard) => !before.some(({ shard: name, generation }) => name === shard.shard && generation === shard.generation),
    );
    assert.ok(changed.length >= 2 && after.length > changed.length);
    const sent = world.takeSent().map(({ message }) => [message.shard, message.generation, message.buckets]);
    assert.deepEqual(
      sent,
      changed.map(({ shard, generation, from, to }) => [shard, generation, { from, to }]),
    );
    for (const { message } of old) {
      const isChanged = !after.some(
        ({ shard, generation }) => shard === message.shard && generation === message.generation,
      );
      assert.equal(await world.judge(message), isChanged ? 'otherGeneration' : undefined);
    }
  });

  test('by a schedule that died right after is followed by the next one, which sends what is missing', async () => {
    const world = scheduleWorld({ capacity: tiny });
    await world.register(nameIn('10'), hanging);
    const [before] = (await world.tick()).layout;
    assert.ok(before);
    await world.beat(before);
    await world.register(nameIn('90'), hanging);
    world.takeSent();
    const { shards } = await currentLayout(world, {
      capacity: tiny,
      mode: 'auto',
      desiredRelease: '',
      runOf: () => undefined,
    });
    assert.ok(shards.length > 1);
    await world.advance(minuteMs);
    await world.tick();
    const sent = world.takeSent().filter(({ message }) => message.kind === 'slot');
    const shardsOf = sent.map(({ message }) => [message.shard, message.generation]);
    const expected = shards.map(({ shard, generation }) => [shard, generation]);
    assert.deepEqual(shardsOf, expected);
    for (const { message } of sent) assert.equal(await world.judge(message), undefined);
  });

  test('keeps the token that runs take, and forgets the generation of a shard that is gone', async () => {
    const world = scheduleWorld({ capacity: tiny });
    const [low, high] = [nameIn('10'), nameIn('90')];
    await world.register(low, { ...hanging, timeoutSeconds: 9 });
    await world.register(high, hanging);
    const split = (await world.tick()).layout;
    await world.write([{ kind: 'update', key: layoutKey, add: { token: 41 } }]);
    await world.purge(high);
    for (let minute = 0; minute <= 12; minute += 1) {
      await world.advance(minuteMs);
      await world.tick();
    }
    const item = await world.store.get(layoutKey);
    assert.equal((await world.layout()).shards.length, split.length - 1);
    assert.equal(item?.token, 41);
    const generations = Object.keys(item ?? {}).filter((name) => name.startsWith(generationAttribute('')));
    assert.deepEqual(generations, ['generation:00']);
  });

  inSplit('is made by one of two schedules at once', async (world) => {
    const [one, other] = await world.clock.runUntil(Promise.all([world.ticks(), world.ticks()]));
    assert.deepEqual(one?.layout, other?.layout);
    assert.equal((await world.layout()).version, 1);
  });

  inWorld('is made again, with newer generations, where the stored one cannot be read', async (world) => {
    await world.register('checkout');
    const shards = [{ shard: '00', from: '00', to: 'ff', generation: 7 }];
    const item = { ...layoutKey, kind: 'LAYOUT', schemaVersion: 1, token: 99, shards, 'generation:00': 7 };
    await world.write([{ kind: 'put', item }]);
    await world.tick();
    assert.equal((await onlyShard(world)).generation, 8);
    assert.equal((await world.store.get(layoutKey))?.token, 99);
  });

  inHeld('passes the desired release on without a new generation', async ({ world, shard }) => {
    await world.tick({ desiredRelease: 'r2' });
    assert.equal((await world.store.get(layoutKey))?.desiredRelease, 'r2');
    assert.deepEqual(await onlyShard(world), shard);
    assert.deepEqual(world.sent, []);
  });

  const releasesIn = async ({ store }: ScheduleWorld) => {
    const item = await store.get(layoutKey);
    return { desiredRelease: item?.desiredRelease, trial: item?.trial, refused: item?.refused };
  };

  /** Two shards with runs of r1, of which one tries r2. */
  async function triedWorld() {
    const world = await splitWorld();
    const shards = (await world.tick({ desiredRelease: 'r1' })).layout;
    const beatAll = async () => {
      for (const shard of shards) await world.beat(shard, { release: 'r1' });
    };
    await beatAll();
    await world.tick({ desiredRelease: 'r2' });
    const { trial } = await releasesIn(world);
    const tried = shards.find(({ shard }) => shard === (trial as { readonly shard: string }).shard);
    assert.ok(shards.length > 1 && tried);
    return { world, tried, beatAll };
  }

  test('lets one shard try a release, and the others follow once it has probed there', async () => {
    const { world, tried, beatAll } = await triedWorld();
    await world.advance(minuteMs);
    await beatAll();
    await world.beat(tried, { release: 'r2', beganAtMs: world.clock.nowMs() - 10_000 });
    await world.tick({ desiredRelease: 'r2' });
    assert.deepEqual(await releasesIn(world), { desiredRelease: 'r2', trial: undefined, refused: undefined });
  });

  test('takes a release back that has not probed after two minutes, and does not try it again', async () => {
    const { world, beatAll } = await triedWorld();
    for (let minute = 1; minute <= 5; minute += 1) {
      await world.advance(minuteMs);
      await beatAll();
      await world.tick({ desiredRelease: 'r2' });
      const { desiredRelease, refused } = await releasesIn(world);
      assert.deepEqual([desiredRelease, refused], minute < 2 ? ['r2', undefined] : ['', 'r2'], `minute ${minute}`);
    }
    const said = world.log.lines.filter(({ message }) => message === 'release refused');
    assert.equal(said.length, 1);
    const published = world.takeEvents().filter(({ detailType }) => detailType === 'Prober Release Refused');
    const detail = { schemaVersion: 1, id: 'release-r2#refused', release: 'r2' };
    assert.deepEqual(
      published.map((event) => event.detail),
      [detail, detail, detail],
    );
  });
});

describe('weights', () => {
  const weighed = (world: ScheduleWorld) => world.queries.splice(0).filter(({ pk }) => pk.startsWith('B#')).length;

  inWorld('are read from their own items while no target changes', async (world) => {
    await world.register('checkout');
    await world.register('cart');
    await world.tick();
    assert.equal(weighed(world), 2);
    await world.tick();
    assert.equal(weighed(world), 0);
    await world.register('cart', { periodSeconds: 30 });
    await world.tick();
    assert.equal(weighed(world), 1);
  });

  test('are not even asked for by one process that holds everything all the time', async () => {
    const world = scheduleWorld({
      mode: 'resident',
      capacity: unlimitedCapacity,
    });
    await world.register('checkout');
    await world.tick();
    assert.deepEqual([world.queries, (await onlyShard(world)).mode], [[], 'resident']);
  });

  inHeld('that cannot be read leave the layout as it is', async ({ world, shard }) => {
    const query = world.store.query;
    const { StoreUnavailable } = await import('../../shared/store/store.ts');
    Object.assign(world.store, { query: () => Promise.reject(new StoreUnavailable('told so')) });
    await world.register('cart', { periodSeconds: 1 });
    await world.tick();
    Object.assign(world.store, { query });
    assert.deepEqual(await onlyShard(world), shard);
  });
});

describe('a rescue', () => {
  const rescues = (world: ScheduleWorld) => world.takeSent().filter(({ message }) => message.kind === 'rescue');

  inHeld('is sent once a minute while a beat is older than 30 s, in a group of its own', async ({ world }) => {
    await world.advance(30_000);
    await world.tick();
    assert.deepEqual(rescues(world), []);
    await world.advance(1);
    await world.tick();
    await world.tick();
    const minute = Math.floor(world.clock.nowMs() / minuteMs);
    const sent = rescues(world);
    assert.deepEqual([...new Set(names(sent))], [`rescue/00/${minute}`]);
    assert.deepEqual([...new Set(sent.map(({ group }) => group))], [`rescue/00/${minute}`]);
    assert.equal((sent.at(-1)?.message.slotEndMs ?? 0) - world.clock.nowMs(), 2 * residentSlotMs);
  });

  inWorld('waits for three minutes in tick mode, and is not sent to a new shard', async (world) => {
    await world.register('slow', { periodSeconds: 60 });
    await world.tick();
    assert.deepEqual(rescues(world), []);
    await world.advance(180_000);
    await world.tick();
    assert.deepEqual(rescues(world), []);
    await world.advance(1);
    await world.tick();
    assert.equal(rescues(world).length, 1);
  });
});

describe('a holder whose clock is wrong', () => {
  /** What the schedule does while the holder, whose clock is ahead by so much, beats once more, or is silent. */
  const seen = async (aheadMs: number, { alive }: { readonly alive: boolean }) => {
    const { world, shard } = await heldWorld();
    const beat = (number: number) => world.beat(shard, { beat: number, beatAtMs: world.clock.nowMs() + aheadMs });
    await beat(7);
    await world.advance(1_000);
    const ticked = world.ticks();
    await world.advance(3_000);
    if (alive) await beat(8);
    await world.clock.runUntil(ticked);
    return {
      rescues: world.takeSent().filter(({ message }) => message.kind === 'rescue').length,
      events: world.takeEvents().length,
    };
  };

  test('is distinguished by the number of its beat from one that has died, behind or ahead', async () => {
    for (const aheadMs of [-300_000, 300_000])
      assert.deepEqual(await seen(aheadMs, { alive: true }), { rescues: 0, events: 0 }, `${aheadMs}`);
    assert.deepEqual(await seen(-300_000, { alive: false }), { rescues: 1, events: 1 });
    assert.deepEqual(await seen(300_000, { alive: false }), { rescues: 1, events: 0 });
  });
});

/** A world with one shard that has had no holder for two minutes, which has been published. */
const inUnheld = testsIn(async () => {
  const world = scheduleWorld({ capacity: tiny });
  await world.register(nameIn('10'), hanging);
  await world.tick();
  await world.advance(2 * minuteMs);
  await world.tick();
  return world;
});

describe('of a shard without a holder', () => {
  const publishedEvents = (world: ScheduleWorld) =>
    world.takeEvents().map(({ detailType, detail }) => [detailType, detail.id]);
  const kinds = (world: ScheduleWorld) => publishedEvents(world).map(([detailType]) => detailType);

  inHeld('subscribers learn after a minute, again each minute, and once that it is over', async ({ world, shard }) => {
    const sinceMs = world.clock.nowMs();
    await world.advance(54_000);
    await world.tick();
    assert.deepEqual(publishedEvents(world), []);
    const degraded = ['Prober Degraded', `shard-00#no-holder#${sinceMs}`];
    await world.tick();
    await world.advance(minuteMs);
    const { noHolder } = await world.tick();
    assert.deepEqual([noHolder, publishedEvents(world)], [['00'], [degraded, degraded]]);
    await world.beat(shard);
    await Promise.all([world.tick(), world.tick()]);
    await world.advance(20_000);
    await world.beat(shard);
    await world.tick();
    assert.deepEqual(publishedEvents(world), [['Prober Recovered', `shard-00#held-again#${sinceMs}`]]);
  });

  inHeld('a schedule that has just started publishes nothing before a holder could have come', async ({ world }) => {
    await world.advance(10 * minuteMs);
    await world.tick({ repeatCurrent: true });
    assert.deepEqual(publishedEvents(world), []);
    await world.advance(minuteMs);
    await world.tick();
    assert.equal(publishedEvents(world).length, 1);
  });

  inHeld('the event says which, since when and why', async ({ world }) => {
    const since = new Date(world.clock.nowMs()).toISOString();
    await world.advance(2 * minuteMs);
    await world.tick();
    const { id: _, ...detail } = world.events[0]?.detail ?? { id: '' };
    assert.deepEqual(detail, { schemaVersion: 1, shard: '00', hashRange: '00-ff', reason: 'NoHolder', since });
  });

  inHeld(
    'a recovery that the bus did not take, or whose publisher died, is published later',
    async ({ world, shard }) => {
      await world.advance(2 * minuteMs);
      await world.tick();
      world.takeEvents();
      world.refused.events.add('Prober Recovered');
      await world.beat(shard);
      await world.tick();
      assert.deepEqual(publishedEvents(world), []);
      world.refused.events.clear();
      for (let minute = 0; minute < 3; minute += 1) {
        await world.advance(minuteMs);
        await world.beat(shard);
        await world.tick();
      }
      assert.deepEqual(kinds(world), ['Prober Recovered']);
    },
  );

  inUnheld('a new layout alone is no recovery: every part of the range needs a beat', async (world) => {
    assert.deepEqual(kinds(world), ['Prober Degraded']);
    await world.register(nameIn('90'), hanging);
    const { layout } = await world.tick();
    const [low, high] = layout;
    assert.ok(low && high && layout.length === 2);
    assert.deepEqual(kinds(world), ['Prober Degraded']);
    await world.beat(low);
    await world.tick();
    assert.deepEqual(kinds(world), ['Prober Degraded']);
    await world.beat(high);
    await world.tick();
    assert.deepEqual(kinds(world), ['Prober Recovered']);
  });

  inUnheld('in a new layout a holder whose clock is wrong is a holder all the same', async (world) => {
    await world.register(nameIn('90'), hanging);
    const { layout } = await world.tick();
    world.takeEvents();
    const beats = async (beat: number) => {
      for (const shard of layout) await world.beat(shard, { beat, beatAtMs: world.clock.nowMs() - 300_000 });
    };
    await beats(7);
    await world.advance(1_000);
    const ticked = world.ticks();
    await world.advance(3_000);
    await beats(8);
    await world.clock.runUntil(ticked);
    assert.deepEqual(kinds(world), ['Prober Recovered']);
  });
});
