/** What a run knows of its shard before it has probed anything: no more than the runs before it did. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lastBeat } from '../../shared/core/shards/beat.ts';
import { writeBeat } from '../../shared/holder/beat.ts';
import { claimRun } from '../../shared/holder/claim.ts';
import { encodeRun, generationAttribute } from '../../shared/store/records/items.ts';
import { layoutKey, runKey, targetAddress } from '../../shared/store/records/keys.ts';
import type { Store } from '../../shared/store/store.ts';
import { column } from '../support/columns.ts';
import { failing, healthy, probedWorld, shardWorld, type ShardWorld as World } from '../support/shard-world.ts';
import { testsIn } from '../support/tests-in.ts';

const hourMs = 3_600_000;
/** One that answers only after all of these tests. */
const never = { outcome: 'success', ms: 10 * hourMs } as const;

const shown = async (world: World, name = 'target-1') =>
  (await world.shown(name)).probes.map(({ result, reason }) => [result, reason]);

const beatState = { observedAtMs: 0, behind: {}, late: 0, degradedTold: false, overloadedTold: false };

const stale = [['unknown', 'Late']];
const known = [['success', undefined]];

/** LAYOUT as it is when two shards have taken the place of one. */
async function split(store: Store, generation: number, names = ['00-7f', '80-ff']): Promise<void> {
  const set = Object.fromEntries(names.map((name) => [generationAttribute(name), generation]));
  await store.write([{ kind: 'update', key: layoutKey, set }], { token: `generation ${generation}` });
}

const halves = [
  { shard: '00-7f', buckets: { from: 0, to: 128 } },
  { shard: '80-ff', buckets: { from: 128, to: 256 } },
];

/** 20 targets that were ready when they were last probed. */
async function readyWorld(probe = {}) {
  const world = await probedWorld({ targets: 20, probe });
  const run = await world.hold();
  await world.clock.advance(30_000);
  assert.deepEqual(await shown(world), known);
  return { world, run };
}

const inReady = testsIn(() => readyWorld());

describe('after an hour without a holder', () => {
  inReady('what was known before is not known until it is probed', async ({ world, run }) => {
    await run.stop();
    await world.clock.advance(hourMs);
    assert.deepEqual(await shown(world), stale);
    world.answer(() => never);
    const next = await world.hold({ cold: true });
    for (let seconds = 0; seconds < 10; seconds += 1) {
      await world.clock.advance(1_000);
      assert.deepEqual(await shown(world), stale, `after ${seconds} s`);
    }
    await next.stop();
    world.answer(() => healthy);
    const last = await world.hold({ cold: true });
    await world.clock.advance(10_000);
    assert.deepEqual(await shown(world), known);
    assert.deepEqual((await world.runRecord()).behind, {});
    await last.stop();
  });

  inReady('the last run’s own view says so too', async ({ world, run }) => {
    await run.stop();
    assert.equal(run.view()?.beat.late, 0);
    await world.clock.advance(hourMs);
    assert.equal(run.view()?.beat.late, 20);
  });

  test('that ends in another layout, every probe is made at once, however long its period', async () => {
    const { world, run } = await readyWorld({ periodSeconds: 300, failureThreshold: 1 });
    await run.stop();
    await world.clock.advance(hourMs);
    world.answer(() => failing);
    await split(world.store, 2);
    const next = await Promise.all(halves.map((half) => world.hold({ message: { ...half, generation: 2 } })));
    await world.clock.advance(10_000);
    for (let number = 1; number <= 20; number += 1)
      assert.deepEqual(await shown(world, `target-${number}`), [['failure', undefined]], `target-${number}`);
    for (const half of next) await half.stop();
  });
});

for (const [how, inTime] of [
  ['ended in order', true],
  ['crashed', false],
] as const)
  test(`after 20 s without a holder that ${how} its probes are made up for at once: ${inTime}`, async () => {
    const { world, run } = await readyWorld({ periodSeconds: 20 });
    if (inTime) await run.stop();
    else run.crash();
    await world.clock.advance(20_000);
    const probed = new Set<number>();
    world.answer((_, port) => {
      probed.add(port);
      return healthy;
    });
    const next = await world.hold({ cold: true });
    await world.clock.advance(500);
    assert.equal(probed.size >= 19, inTime, `${probed.size} of 20 targets`);
    await world.clock.advance(21_000);
    assert.equal(probed.size, 20);
    await next.stop();
  });

test('a probe that two holders in a row have not done is as old as both together', async () => {
  const { world, run } = await readyWorld({ periodSeconds: 30 });
  world.answer(() => never);
  await world.clock.advance(55_000);
  assert.equal(run.view()?.beat.late, 0, 'three periods are not over yet');
  await run.stop();
  const next = await world.hold({ cold: true });
  await world.clock.advance(55_000);
  assert.deepEqual(await shown(world), stale);
  await next.stop();
});

describe('a hand-over while the prober doubts itself', () => {
  test('makes nothing fresh that was not observed since the doubt began', async () => {
    const { world, run } = await readyWorld({ periodSeconds: 30 });
    world.network.isCut = true;
    await world.clock.advance(60_000);
    await run.stop();
    const next = await world.hold({ cold: true });
    await world.clock.advance(60_000);
    world.answer(() => never);
    world.network.isCut = false;
    await world.clock.advance(15_000);
    assert.equal((await world.runRecord()).degraded, false);
    assert.deepEqual(await shown(world), stale);
    await next.stop();
  });
});

describe('another layout', () => {
  test('takes nothing as fresh that the one before had not observed', async () => {
    const { world, run } = await readyWorld({ periodSeconds: 10 });
    const before = await world.runRecord();
    await run.stop();
    const observedAtMs = world.clock.nowMs() - 60_000;
    const behind = { 'default/target-1#main#readiness': observedAtMs - 30_000 };
    const item = encodeRun('00', { ...before, observedAtMs, behind, degraded: true, degradedTold: true });
    await world.store.write([{ kind: 'put', item }], { token: 'as it was left' });
    await split(world.store, 2);
    world.network.isDoubted = true;
    const next = await Promise.all(halves.map((half) => world.hold({ message: { ...half, generation: 2 } })));
    await world.clock.advance(2_000);
    for (const { shard } of halves) {
      const { degraded, degradedTold, ...rest } = await world.runRecord(shard);
      const inherited = [degraded, degradedTold, rest.behind, rest.observedAtMs];
      assert.deepEqual(inherited, [true, true, behind, observedAtMs], shard);
    }
    world.network.isDoubted = false;
    await world.clock.advance(20_000);
    assert.deepEqual(column(world.publishedEvents('Prober Recovered'), 'hashRange'), ['00-7f', '80-ff']);
    for (const half of next) await half.stop();
  });
});

describe('another layout, of whose shards one has the name of the one before', () => {
  const names = ['00', '80'];
  const lower = { shard: '00', buckets: { from: 0, to: 128 }, generation: 2 };
  const upper = { shard: '80', buckets: { from: 128, to: 256 }, generation: 2 };
  const inUpper = (name: string) => targetAddress('default', name).bucket >= '80';
  const targets = Array.from({ length: 20 }, (_, at) => `target-${at + 1}`);

  /** The lower half is held, the upper one not yet. */
  const inHalfHeld = testsIn(async () => {
    const { world, run } = await readyWorld({ periodSeconds: 300, failureThreshold: 1 });
    await run.stop();
    await split(world.store, 2, names);
    const next = await world.hold({ message: lower });
    return { world, next };
  });
  const shownOf = async (world: World, isOne: (name: string) => boolean) =>
    new Set((await Promise.all(targets.filter(isOne).map((name) => shown(world, name)))).map(String));

  inHalfHeld('what the other has not claimed yet is as fresh as it was left', async ({ world, next }) => {
    await world.clock.advance(800_000);
    assert.deepEqual(await shownOf(world, inUpper), new Set([String(known[0])]));
    await world.clock.advance(200_000);
    assert.deepEqual(await shownOf(world, inUpper), new Set([String(stale[0])]));
    assert.deepEqual(await shownOf(world, (name) => !inUpper(name)), new Set([String(known[0])]));
    await next.stop();
  });

  inHalfHeld('and is probed at once when it has been left for long', async ({ world, next }) => {
    await world.clock.advance(hourMs / 2);
    world.answer(() => failing);
    const other = await world.hold({ message: upper });
    await world.clock.advance(10_000);
    assert.deepEqual(await shownOf(world, inUpper), new Set([String(['failure', undefined])]));
    await next.stop();
    await other.stop();
  });

  inHalfHeld('and nothing is known of what a third layout finds unclaimed', async ({ world, next }) => {
    // As old as a result may be: what is younger is not older than its target.
    await world.clock.advance(880_000);
    assert.deepEqual(await shownOf(world, inUpper), new Set([String(known[0])]));
    await next.stop();
    await split(world.store, 3, names);
    const third = await world.hold({ message: { ...lower, generation: 3 } });
    await world.clock.advance(10_000);
    assert.deepEqual(await shownOf(world, inUpper), new Set([String(stale[0])]));
    await third.stop();
  });
});

test('a slot that the run before ends while it is claimed stays done', async () => {
  const world = shardWorld();
  const [before, next] = [world.bareRun(1), world.bareRun(2)];
  await claimRun(before, undefined);
  const { store } = next.ports;
  const get: Store['get'] = async (key, options) => {
    const item = await store.get(key, options);
    await writeBeat(before, lastBeat, beatState, { doneSlot: before.message.slot - 1 });
    return item;
  };
  const claimed = await claimRun({ ...next, ports: { ...next.ports, store: { ...store, get } } }, undefined);
  assert.equal(claimed.kind, 'cold');
  const item = await store.get(runKey(next.message.shard));
  assert.deepEqual([item?.token, item?.doneSlot], [2, before.message.slot - 1]);
});

test('a doubt that the run before writes while it is claimed is inherited, so that its end is published', async () => {
  const world = shardWorld();
  const [before, next] = [world.bareRun(1), world.bareRun(2)];
  await claimRun(before, undefined);
  const { store } = next.ports;
  let reads = 0;
  const get: Store['get'] = async (key, options) => {
    const item = await store.get(key, options);
    reads += 1;
    const doubt = { reason: 'NetworkUnreachable', sinceMs: 1 };
    if (reads === 1) await writeBeat(before, 1, { ...beatState, doubt }, {});
    return item;
  };
  const claimed = await claimRun({ ...next, ports: { ...next.ports, store: { ...store, get } } }, undefined);
  assert.ok(claimed.kind === 'cold' && claimed.inherited.degraded);
  assert.equal((await store.get(runKey(next.message.shard)))?.degraded, true);
});

test('a slot that is done is not claimed again, though no later one has begun', async () => {
  const world = shardWorld();
  const [before, again] = [world.bareRun(1), world.bareRun(2)];
  await claimRun(before, undefined);
  await writeBeat(before, lastBeat, beatState, { doneSlot: before.message.slot });
  assert.deepEqual(await claimRun(again, undefined), { kind: 'refused', isFinal: true });
  assert.equal((await world.store.get(runKey(again.message.shard)))?.token, 1);
});

describe('a shard whose later slot has begun, its message having come first', () => {
  const later = async () => {
    const world = shardWorld();
    const [one, earlier] = [world.bareRun(1), world.bareRun(2)];
    const first = { ...one, message: { ...one.message, slot: one.message.slot + 1 } };
    const holder = async () => (await earlier.ports.store.get(runKey(earlier.message.shard)))?.token;
    return { first, earlier, holder };
  };

  test('is not taken from it by the earlier one', async () => {
    const { first, earlier, holder } = await later();
    await claimRun(first, undefined);
    assert.deepEqual(await claimRun(earlier, undefined), { kind: 'refused', isFinal: true });
    assert.equal(await holder(), 1);
  });

  test('nor when it begins between a look and the claim', async () => {
    const { first, earlier, holder } = await later();
    const { store } = earlier.ports;
    const get: Store['get'] = async (key, options) => {
      const item = await store.get(key, options);
      await claimRun(first, undefined);
      return item;
    };
    const claimed = await claimRun({ ...earlier, ports: { ...earlier.ports, store: { ...store, get } } }, undefined);
    assert.deepEqual([claimed, await holder()], [{ kind: 'refused', isFinal: true }, 1]);
  });

  test('is taken from it by a rescue, and by a run of another generation', async () => {
    for (const message of [{ kind: 'rescue' }, { generation: 7 }] as const) {
      const { first, earlier, holder } = await later();
      await claimRun(first, undefined);
      const claimed = await claimRun({ ...earlier, message: { ...earlier.message, ...message } }, undefined);
      assert.deepEqual([claimed.kind, await holder()], ['cold', 2]);
    }
  });
});

describe('what is published of a doubt', () => {
  const publishedEvents = ({ published }: World) =>
    published.map((event) => event['detail-type']).filter((type) => type.startsWith('Prober '));

  inReady('is published again until the bus has taken it, with the same id', async ({ world, run }) => {
    const tries: string[] = [];
    world.faults.refuses = ({ detailType, detail }) => {
      if (!detailType.startsWith('Prober ')) return false;
      tries.push(detail.id);
      return true;
    };
    world.network.isCut = true;
    await world.clock.advance(60_000);
    assert.ok(tries.length > 5, `${tries.length} tries`);
    assert.equal(new Set(tries).size, 1);
    assert.deepEqual([(await world.runRecord()).degraded, (await world.runRecord()).degradedTold], [true, false]);
    world.faults.refuses = () => false;
    await world.clock.advance(10_000);
    assert.equal((await world.runRecord()).degradedTold, true);
    assert.equal(publishedEvents(world).length, 1);
    await run.stop();
  });

  test('is withdrawn by the next run where the last one was fenced before the beat that follows the event', async () => {
    const { world } = await readyWorld();
    world.network.isCut = true;
    for (let step = 0; step < 600 && publishedEvents(world).length === 0; step += 1) await world.clock.advance(100);
    assert.deepEqual([(await world.runRecord()).degraded, (await world.runRecord()).degradedTold], [true, false]);
    world.network.isCut = false;
    const next = await world.hold({ cold: true });
    await world.clock.advance(15_000);
    assert.deepEqual(publishedEvents(world), ['Prober Degraded', 'Prober Recovered']);
    await next.stop();
  });

  test('is published by the next run, in doubt again, where the last one was fenced right after the recovery was published', async () => {
    const { world } = await readyWorld();
    world.network.isCut = true;
    await world.clock.advance(60_000);
    world.network.isCut = false;
    const isOver = () => world.publishedEvents('Prober Recovered').length > 0;
    for (let step = 0; step < 600 && !isOver(); step += 1) await world.clock.advance(100);
    assert.deepEqual([(await world.runRecord()).degraded, (await world.runRecord()).degradedTold], [false, true]);
    world.network.isCut = true;
    const next = await world.hold({ cold: true });
    await world.clock.advance(30_000);
    assert.equal(world.publishedEvents('Prober Degraded').length, 2);
    await next.stop();
  });

  inReady('is published by the next run where the last one could not', async ({ world, run }) => {
    world.network.isCut = true;
    await world.clock.advance(60_000);
    world.faults.refuses = ({ detailType }) => detailType === 'Prober Recovered';
    world.network.isCut = false;
    await world.clock.advance(30_000);
    assert.deepEqual([(await world.runRecord()).degraded, (await world.runRecord()).degradedTold], [false, true]);
    await run.stop();
    world.faults.refuses = () => false;
    const next = await world.hold({ cold: true });
    await world.clock.advance(10_000);
    assert.deepEqual(publishedEvents(world), ['Prober Degraded', 'Prober Recovered']);
    assert.equal((await world.runRecord()).degradedTold, false);
    await next.stop();
  });
});
