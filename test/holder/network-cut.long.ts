import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generationAttribute } from '../../shared/store/records/items.ts';
import { layoutKey } from '../../shared/store/records/keys.ts';
import { columns } from '../support/columns.ts';
import { failing, healthy, probedWorld, type ShardRun, type ShardWorld } from '../support/shard-world.ts';

/** Result changes to this result; a readiness result begins as a failure. */
const changesTo = (world: ShardWorld, result: string): number =>
  world.publishedEvents('Probe Result Changed').filter((detail) => detail.result === result).length;

type ReadyWorld = ShardWorld & { readonly held: ShardRun; readonly failures: () => number };

/** A test with 500 ready targets of this threshold, held. */
function readyTest(name: string, failureThreshold: number, holds: (world: ReadyWorld) => Promise<void>): void {
  test(name, async () => {
    const world = await probedWorld({ targets: 500, probe: { failureThreshold } });
    const run = await world.hold();
    await world.clock.advance(30_000);
    assert.equal(changesTo(world, 'success'), 500);
    const failuresBefore = changesTo(world, 'failure');
    await holds({ ...world, held: run, failures: () => changesTo(world, 'failure') - failuresBefore });
    await run.stop();
  });
}

describe('a network that is cut under 500 targets', () => {
  for (const failureThreshold of [1, 3])
    readyTest(
      `makes none fail, and none flip when it is back (${failureThreshold})`,
      failureThreshold,
      async (world) => {
        const { clock, network, publishedEvents } = world;
        const before = publishedEvents('Probe Result Changed').length;
        network.isCut = true;
        await clock.advance(180_000);
        assert.equal((await world.runRecord()).degraded, true);
        const shown = await world.shown('target-7');
        assert.deepEqual(columns(shown.probes, 'result', 'reason'), [['unknown', 'ProberDegraded']]);
        network.isCut = false;
        await clock.advance(60_000);
        const { degraded, behind } = await world.runRecord();
        assert.deepEqual([degraded, behind], [false, {}]);
        assert.equal(publishedEvents('Probe Result Changed').length, before);
        assert.equal(publishedEvents('Container Unhealthy').length, 0);
        const ranges = [publishedEvents('Prober Degraded'), publishedEvents('Prober Recovered')].map((all) =>
          all.map((one) => one.hashRange),
        );
        assert.deepEqual(ranges, [['00-ff'], ['00-ff']]);
      },
    );

  readyTest('is published once, however often the shard changes hands meanwhile', 3, async (world) => {
    const { clock, network, publishedEvents, held, failures } = world;
    network.isCut = true;
    await clock.advance(60_000);
    await held.stop();
    for (const cold of [true, false]) {
      const next = await world.hold({ cold });
      await clock.advance(30_000);
      assert.equal((await world.runRecord()).degraded, true);
      await next.stop();
    }
    network.isCut = false;
    const last = await world.hold({ cold: true });
    await clock.advance(60_000);
    assert.equal((await world.runRecord()).degraded, false);
    assert.equal(publishedEvents('Prober Degraded').length, 1);
    assert.equal(publishedEvents('Prober Recovered').length, 1);
    assert.equal(failures(), 0);
    await last.stop();
  });

  readyTest('is over without a herd: every probe keeps its phase', 3, async ({ clock, network, answer }) => {
    network.isCut = true;
    await clock.advance(60_000);
    network.isCut = false;
    const begun: number[] = [];
    answer(() => {
      begun.push(clock.nowMs());
      return healthy;
    });
    const fromMs = clock.nowMs();
    await clock.advance(20_000);
    const inSecond = (second: number) => begun.filter((atMs) => Math.floor((atMs - fromMs) / 1_000) === second).length;
    const most = Math.max(...Array.from({ length: 20 }, (_, second) => inSecond(second)));
    assert.ok(most < 100, `${most} probes in one second, of 50 that are due`);
  });
});

describe('a prober in doubt', () => {
  test('publishes nothing of a shard that LAYOUT has divided, since no holder could publish its recovery', async () => {
    const world = await probedWorld({ targets: 20 });
    const { clock, network, publishedEvents, store } = world;
    const run = await world.hold();
    await clock.advance(30_000);
    const set = { [generationAttribute('00')]: 99 };
    // Not announced yet, so the run stays.
    await store.write([{ kind: 'update', key: layoutKey, set }], { token: 'divided' });
    network.isCut = true;
    await clock.advance(60_000);
    assert.equal((await world.runRecord()).degraded, true);
    assert.equal(publishedEvents('Prober Degraded').length, 0);
    network.isCut = false;
    await clock.advance(60_000);
    assert.equal((await world.runRecord()).degraded, false);
    assert.equal(publishedEvents('Prober Recovered').length, 0);
    await run.stop();
  });

  test('still sees that a target is well, so failures around that do not add up', async () => {
    const world = await probedWorld({ targets: 1, probe: { failureThreshold: 3 } });
    const run = await world.hold();
    const { clock, network } = world;
    await clock.advance(30_000);
    const before = world.publishedEvents('Probe Result Changed').length;
    for (const [answer, isDoubted] of [
      [failing, false],
      [failing, false],
      [failing, true],
      [healthy, true],
      [failing, false],
      [failing, false],
    ] as const) {
      world.answer(() => answer);
      network.isDoubted = isDoubted;
      await clock.advance(10_000);
    }
    assert.equal(world.publishedEvents('Probe Result Changed').length, before);
    await run.stop();
  });
});

describe('500 targets that really fail at once', () => {
  readyTest('turn at an even pace, and all of them within half a minute', 1, async (world) => {
    const { clock, failures } = world;
    world.answer(() => failing);
    await clock.advance(12_000);
    // Three in ten, which takes 3 s, are no surge yet; then 25 turn each second.
    const early = failures();
    assert.ok(early >= 150 && early <= 150 + 10 * 25, `${early} in 12 s`);
    await clock.advance(22_000);
    assert.equal(failures(), 500);
    assert.equal((await world.runRecord()).degraded, false);
  });

  readyTest('and recover before their turn do not turn', 1, async ({ clock, answer, failures }) => {
    answer(() => failing);
    await clock.advance(10_000);
    answer(() => healthy);
    // What failed before is committed.
    await clock.advance(1_000);
    const failed = failures();
    await clock.advance(90_000);
    assert.equal(failures(), failed);
    assert.ok(failed < 400, `${failed} turned`);
  });
});

describe('a process that stands still', () => {
  readyTest('for as long as several time-outs makes no target fail', 1, async ({ clock, answer, publishedEvents }) => {
    answer(() => ({ outcome: 'success', ms: 300 }));
    await clock.advance(5_000);
    const before = publishedEvents('Probe Result Changed').length;
    // A probe that waits for its answer now has used up its time when the process wakes.
    answer(() => ({ outcome: 'failure', ms: 1_000 }));
    await clock.advance(500);
    clock.stand(3_000);
    answer(() => healthy);
    await clock.advance(30_000);
    assert.equal(publishedEvents('Probe Result Changed').length, before);
  });
});

describe('the end of a run', () => {
  test('leaves nothing behind, and what it cut off runs first thing in the next one', async () => {
    for (const cold of [false, true]) {
      const world = await probedWorld({ targets: 20, probe: { periodSeconds: 60, timeoutSeconds: 30 } });
      const { clock } = world;
      const run = await world.hold();
      await clock.advance(90_000);
      const failuresBefore = changesTo(world, 'failure');
      const begun: number[] = [];
      world.answer((_, port) => {
        begun.push(port);
        return { outcome: 'failure', ms: 30_000 };
      });
      for (let waited = 0; begun.length < 3; waited += 1) {
        assert.ok(waited < 100);
        await clock.advance(1_000);
      }
      const cut = [...begun];
      const beganAtMs = clock.monotonicMs();
      await run.stop();
      assert.ok(clock.monotonicMs() - beganAtMs < 3_000, 'the drain');
      begun.length = 0;
      const next = await world.hold({ cold });
      await clock.advance(1_000);
      const missing = cut.filter((port) => !begun.includes(port));
      assert.deepEqual(missing, [], cold ? 'cold' : 'warm');
      assert.equal(changesTo(world, 'failure'), failuresBefore);
      await next.stop();
    }
  });
});

test('a failure that counts towards a threshold is self-checked, also where the result is failure already', async () => {
  const world = await probedWorld({ targets: 1, probe: { periodSeconds: 10, failureThreshold: 3 } });
  world.answer(() => failing);
  const run = await world.hold();
  await world.clock.advance(1_000);
  assert.equal((await world.runRecord()).degraded, false);
  world.network.isDoubted = true;
  await world.clock.advance(29_000);
  assert.equal((await world.runRecord()).degraded, true);
  await run.stop();
});
