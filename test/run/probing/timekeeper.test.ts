import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sleep } from '../../../shared/lib/clock.ts';
import { tendTargets } from '../../../shared/run/probing/timekeeper.ts';
import { syncTarget } from '../../../shared/status-sync/sync.ts';
import type { Store } from '../../../shared/store/store.ts';
import { bareHolder } from '../../support/bare-holder.ts';
import { column } from '../../support/columns.ts';
import { writeSettled } from '../../support/settled-targets.ts';
import { heldWorld, inShardWorld, shardWorld } from '../../support/shard-world.ts';

const few = 300;
const readMs = 20;
/** Of the 50 sockets that the DynamoDB client has. */
const readsAtOnceMax = 10;

/** A shard of many targets, all of them ready, whose store answers reads after a while and says how many there were. */
async function massWorld(targets: number) {
  let [reads, under, most] = [0, 0, 0];
  let isSlow = false;
  const counted = async <Answer>(read: () => Promise<Answer>): Promise<Answer> => {
    reads += 1;
    under += 1;
    most = Math.max(most, under);
    if (isSlow) await sleep(world.clock, readMs);
    under -= 1;
    return read();
  };
  const wrapStore = (store: Store): Store => ({
    ...store,
    get: (key, options) => counted(() => store.get(key, options)),
    query: (query) => counted(() => store.query(query)),
  });
  const stored: { at?: Store } = {};
  const world = shardWorld({
    wrapStore(store) {
      stored.at = store;
      return wrapStore(store);
    },
  });
  world.sync(false);
  await writeSettled(stored.at as Store, { targets, port: 1, periodSeconds: 10 });
  /** What the test itself waits for takes no time, since the clock stands still meanwhile. */
  const run = async () => {
    isSlow = false;
    const begun = await world.run();
    isSlow = true;
    return begun;
  };
  return {
    world,
    run,
    /** A run in which all targets are ready, then fail, and are published. */
    async runUntilFailed() {
      const begun = await run();
      await world.clock.advance(30_000);
      world.answer(() => 'failure');
      await world.until('all are published', () => countOf(world) === targets);
      return begun;
    },
    begin() {
      [reads, most] = [0, 0];
    },
    reads: () => reads,
    readsAtOnce: () => most,
  };
}

/** How often each target was published as failed. */
const timesPublished = ({ publishedEvents }: ReturnType<typeof shardWorld>): readonly number[] => {
  const times = new Map<string, number>();
  for (const { target } of publishedEvents('Probe Result Changed'))
    times.set(target.name, (times.get(target.name) ?? 0) + 1);
  return [...times.values()];
};

const countOf = (world: ReturnType<typeof shardWorld>): number => timesPublished(world).length;

describe('hundreds of targets that STATUS has not taken in', () => {
  test('are looked at a few at a time', async () => {
    const { world, runUntilFailed, begin, readsAtOnce } = await massWorld(few);
    await runUntilFailed();
    await world.clock.advance(20_000);
    begin();
    await world.clock.advance(10_000);
    assert.ok(readsAtOnce() <= readsAtOnceMax, `${readsAtOnce()} reads at once`);
  });

  test('are published once by the run that takes the shard over, not looked at without end', async () => {
    const { world, run, runUntilFailed, begin, reads, readsAtOnce } = await massWorld(few);
    const first = await runUntilFailed();
    first.crash();
    world.published.length = 0;
    begin();
    await run();
    await world.clock.advance(15_000);
    assert.equal(countOf(world), few);
    assert.ok(readsAtOnce() <= readsAtOnceMax, `${readsAtOnce()} reads at once`);
    // To load it, to look at it, twice at most, and what was committed of it.
    assert.ok(reads() <= 4 * few, `${reads()} reads in 15 s`);
  });
});

/** Of docs/architecture.md. */
const perSecondMax = 200;
const perSecondMin = 10;
const atOnceMax = 200;

describe('a thousand targets that STATUS does not take in', () => {
  const many = 1_000;

  test('are published again ever more slowly, and are all taken in within a minute once it can', async () => {
    const { world, run, runUntilFailed } = await massWorld(many);
    const first = await runUntilFailed();
    first.crash();
    world.published.length = 0;
    await run();
    await world.until('the next holder publishes', () => countOf(world) > 0);
    const perSecond: number[] = [];
    let before = 0;
    for (let second = 0; second < 60; second += 1) {
      await world.clock.advance(1_000);
      const published = world.publishedEvents('Probe Result Changed').length;
      perSecond.push(published - before);
      before = published;
    }
    const [most] = [...perSecond].sort((one, other) => other - one);
    assert.ok(most !== undefined && most <= atOnceMax + perSecondMax, `${perSecond} a second`);
    assert.equal(countOf(world), many);
    const last = perSecond.slice(-10).reduce((sum, count) => sum + count, 0);
    assert.ok(last > 0 && last <= 2 * 10 * perSecondMin, `${perSecond} a second`);
    world.sync(true);
    await world.clock.advance(60_000);
    world.published.length = 0;
    await world.clock.advance(20_000);
    assert.deepEqual(world.publishedEvents('Probe Result Changed'), []);
  });
});

describe('a result that STATUS has not taken in', () => {
  const readinessProbe = { tcpSocket: { port: 1 }, periodSeconds: 10, failureThreshold: 1 };

  test('is published every 10 s, and no other sync is asked for', async () => {
    const { world } = await heldWorld({ checkout: { readinessProbe } }, 30_000);
    world.sync(false);
    world.published.length = 0;
    world.answer(() => 'failure');
    await world.clock.advance(60_000);
    const published = world.published.map((event) => event['detail-type']);
    assert.ok(published.filter((type) => type === 'Probe Result Changed').length >= 4, `${published}`);
    assert.ok(!published.includes('Target Sync Requested'), `${published}`);
  });

  inShardWorld('is all that a look publishes of a target with nothing else open', async (world) => {
    await world.put('checkout', { readinessProbe });
    await world.clock.advance(0);
    await world.clock.runUntil(syncTarget(world, { namespace: 'default', name: 'checkout' }));
    const { holder, hold } = bareHolder(world);
    const held = await hold('checkout');
    held.unacked.set('main#readiness', { version: 7, publishedAtMs: Number.NEGATIVE_INFINITY });
    world.published.length = 0;
    await world.clock.runUntil(tendTargets(holder, [held]));
    await world.clock.runUntil(holder.publisher.drained());
    await world.clock.advance(0);
    assert.deepEqual(column(world.published, 'detail-type'), ['Probe Result Changed']);
  });
});
