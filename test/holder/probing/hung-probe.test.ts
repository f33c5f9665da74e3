/** A probe that has hung the prober twice is quarantined until its spec changes. */

import assert from 'node:assert/strict';
import { rememberHang } from '../../../shared/holder/probing/hung-probe.ts';
import { syncTarget } from '../../../shared/status-sync/sync.ts';
import { decodeTarget } from '../../../shared/store/records/items.ts';
import { targetAddress, targetKey } from '../../../shared/store/records/keys.ts';
import { column } from '../../support/columns.ts';
import { type ShardWorld, shardWorld } from '../../support/shard-world.ts';
import { beforeWrite } from '../../support/store-wraps.ts';
import { testsIn } from '../../support/tests-in.ts';

const spec = (port: number) => ({ readinessProbe: { tcpSocket: { port }, periodSeconds: 5, failureThreshold: 1 } });
const [badPort, goodPort] = [1, 2];

/** Two targets that are well, held by a run. */
async function heldWorld() {
  const world = shardWorld();
  await world.put('bad', spec(badPort));
  await world.put('good', spec(goodPort));
  const asked: number[] = [];
  world.answer((_, port) => {
    asked.push(port);
    return 'success';
  });
  await world.toNextSlot();
  const run = await world.run();
  await world.clock.advance(12_000);
  return { world, run, asked };
}

async function targetOf(world: ShardWorld, name: string) {
  const item = await world.store.get(targetKey(targetAddress('default', name)));
  const decoded = item && decodeTarget(item);
  if (decoded?.kind !== 'ok') throw new Error('no TARGET item');
  return decoded.record;
}

async function hang(world: ShardWorld, name: string): Promise<void> {
  const { uid, generation } = await targetOf(world, name);
  const ports = { store: world.store, clock: world.clock, random: world.random };
  await rememberHang(ports, `default\n${name}\n${uid}\n${generation}\nmain\nreadiness`, world.clock.nowMs());
}

/** How often each port was asked for within a minute from when the holder has read what was written. */
async function askedInAMinute({ world, asked }: Awaited<ReturnType<typeof heldWorld>>) {
  await world.clock.advance(20_000);
  asked.length = 0;
  await world.clock.advance(60_000);
  return {
    bad: asked.filter((port) => port === badPort).length,
    good: asked.filter((port) => port === goodPort).length,
  };
}

const shownReadiness = async (world: ShardWorld, name: string) =>
  (await world.shown(name)).conditions.find(({ type }) => type === 'Ready')?.status;

const inHeld = testsIn(() => heldWorld());

inHeld('one hang changes nothing', async (held) => {
  await hang(held.world, 'bad');
  assert.deepEqual(await askedInAMinute(held), { bad: 12, good: 12 });
  assert.deepEqual(held.run.view()?.quarantined, []);
});

inHeld('after the second hang it is not made, its result becomes Unknown, and everybody is told why', async (held) => {
  const { world, run } = held;
  await hang(world, 'bad');
  await hang(world, 'bad');
  assert.deepEqual(await askedInAMinute(held), { bad: 0, good: 12 });

  const [shown, ...others] = run.view()?.quarantined ?? [];
  assert.deepEqual(others, []);
  assert.match(shown?.key.sk ?? '', /#default\/bad#HANG$/);
  assert.match(shown?.detail ?? '', /^main#readiness: the prober hung 2 times .* a change of the target's spec /);
  assert.equal(await shownReadiness(world, 'bad'), 'Unknown');
  assert.equal(await shownReadiness(world, 'good'), 'True');
  const publishedEvents = (await world.history('bad')).filter(({ reason }) => reason === 'ProberError');
  assert.match(publishedEvents[0]?.message ?? '', /^readiness probe could not be made: the prober hung 2 times /);
  assert.deepEqual(
    column(
      world.log.lines.filter(({ message }) => message === 'probe quarantined'),
      'fields',
    ),
    [{ namespace: 'default', target: 'bad', probe: 'main#readiness', hangs: 2 }],
  );
});

inHeld('a change of the spec lifts it', async (held) => {
  const { world, run } = held;
  await hang(world, 'bad');
  await hang(world, 'bad');
  await askedInAMinute(held);
  await world.put('bad', { ...spec(badPort), host: '127.0.0.2' });
  assert.deepEqual(await askedInAMinute(held), { bad: 12, good: 12 });
  assert.deepEqual(run.view()?.quarantined, []);
  assert.equal(await shownReadiness(world, 'bad'), 'True');
});

/** A store in which other processes write what is remembered of hangs, so many times, before each of our writes. */
const contended = (world: ShardWorld, times: number) => {
  let left = times;
  const refusals = [{ index: 1, kind: 'condition' as const }];
  const refused = beforeWrite(() => {
    left -= 1;
    return left < 0 ? undefined : { kind: 'refused' as const, refusals };
  });
  return { ...world, store: refused(world.store) };
};

for (const [times, isRemembered] of [
  [4, true],
  [5, false],
] as const)
  inHeld(
    `one is ${isRemembered ? '' : 'not '}remembered that others write ${times} times before`,
    async ({ world }) => {
      await hang(contended(world, times), 'bad');
      const kinds = (await world.itemsOf('bad')).map(({ kind }) => kind);
      assert.equal(kinds.includes('HANG'), isRemembered, kinds.join());
    },
  );

inHeld('the next holder leaves it alone from the beginning', async (held) => {
  const { world, run, asked } = held;
  run.crash();
  await hang(world, 'bad');
  await hang(world, 'bad');
  await world.toNextSlot();
  asked.length = 0;
  await world.run();
  await world.clock.advance(30_000);
  assert.ok(!asked.includes(badPort));
  assert.equal(await shownReadiness(world, 'bad'), 'Unknown');
});

inHeld('a purge takes it along, also one that comes while the hang is remembered', async ({ world, run }) => {
  await run.stop();
  world.sync(false);
  await world.remove('bad', 0);
  let isLate = true;
  const purgedLate = beforeWrite(async (operations) => {
    if (!isLate || !operations.some(({ kind }) => kind === 'delete')) return undefined;
    isLate = false;
    await hang(world, 'bad');
    return undefined;
  });
  const target = { namespace: 'default', name: 'bad' };
  await world.clock.runUntil(syncTarget({ ...world, store: purgedLate(world.store) }, target));
  assert.ok(!isLate);
  assert.deepEqual(await world.itemsOf('bad'), []);
});
