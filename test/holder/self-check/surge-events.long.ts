import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { surgeLimitOf } from '../../../shared/holder/self-check/surge.ts';
import {
  failing,
  healthy,
  type ProbedOptions,
  probedWorld,
  type ShardRun,
  type ShardWorld,
} from '../../support/shard-world.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

/** Targets that were published as failed since then, each with the last time. */
function failedSince(world: ShardWorld, fromMs: number): ReadonlyMap<string, number> {
  const failed = new Map<string, number>();
  for (const { time, detail } of world.published)
    if ('result' in detail && detail.result === 'failure' && Date.parse(time) >= fromMs)
      failed.set(detail.target.name, Date.parse(time));
  return failed;
}

type ReadyWorld = ShardWorld & { readonly held: ShardRun };

/** A test with ready targets, held. */
function readyTest(name: string, options: ProbedOptions, holds: (world: ReadyWorld) => Promise<void>): void {
  test(name, async () => {
    const world = await probedWorld(options);
    const run = await world.hold();
    await world.clock.advance(40_000);
    await holds({ ...world, held: run });
    await run.stop();
  });
}

readyTest('a surge makes no healthy target unknown', { targets: 1_000 }, async ({ clock, held, answer }) => {
  answer((_, port) => (port <= 900 ? failing : healthy));
  const unknown: number[] = [];
  for (let second = 0; second < 100; second += 5) {
    await clock.advance(5_000);
    const late = held.view()?.beat.late ?? 0;
    if (late > 0) unknown.push(second);
  }
  assert.deepEqual(unknown, []);
});

describe('when all targets go down, all are published within 60 s beyond their threshold', () => {
  const publishedMsMax = 60_000;
  for (const [periodSeconds, failureThreshold, targets] of [
    [1, 1, 300],
    [10, 3, 1_000],
    [30, 1, 300],
    [40, 1, 300],
  ] as const) {
    const probe = { periodSeconds, failureThreshold };
    readyTest(
      `a period of ${periodSeconds} s, a threshold of ${failureThreshold}`,
      { targets, probe },
      async (world) => {
        const downAtMs = world.clock.nowMs();
        world.answer(() => failing);
        await world.clock.advance((failureThreshold - 1) * periodSeconds * 1_000 + publishedMsMax);
        assert.equal(failedSince(world, downAtMs).size, targets);
      },
    );
  }
});

describe('a surge', () => {
  const probe = { failureThreshold: 1 };

  readyTest('is published at once, and once', { targets: 50, probe }, async (world) => {
    const { clock } = world;
    const downAtMs = clock.nowMs();
    world.answer(() => failing);
    for (let second = 0; second < 30 && failedSince(world, downAtMs).size < 16; second += 1) await clock.advance(1_000);
    assert.equal(world.publishedEvents('Probe Surge Detected').length, 1);
    await clock.advance(120_000);
    const [surge, ...more] = world.publishedEvents('Probe Surge Detected');
    assert.deepEqual(more, []);
    assert.deepEqual([surge?.turning, surge?.targets, surge?.hashRange], [16, 50, '00-ff']);
  });

  readyTest('is published again until the bus takes it, with the same id', { targets: 50, probe }, async (world) => {
    const { clock, faults } = world;
    const refused = new Set<string>();
    faults.refuses = (event) => {
      if (event.detailType === 'Probe Surge Detected') refused.add(event.detail.id);
      return event.detailType === 'Probe Surge Detected';
    };
    world.answer(() => failing);
    await clock.advance(30_000);
    faults.refuses = () => false;
    await clock.advance(10_000);
    const taken = world.publishedEvents('Probe Surge Detected').map(({ id }) => id);
    assert.equal(refused.size, 1);
    assert.deepEqual(taken, [...refused]);
  });

  readyTest('holds back no recovery', { targets: 100, probe }, async ({ clock, answer, publishedEvents }) => {
    answer(() => failing);
    await clock.advance(60_000);
    const before = publishedEvents('Probe Result Changed').length;
    answer(() => healthy);
    // A period.
    await clock.advance(11_000);
    assert.equal(publishedEvents('Probe Result Changed').length - before, 100);
  });

  test('counts the targets of one minute', () => {
    const surgeAfter = (pauseMs: number) => {
      const clock = virtualClock();
      const surgeLimit = surgeLimitOf(clock, () => {});
      const ask = (at: number) => surgeLimit.ask(`t${at}`, 10_000, 20);
      for (let at = 0; at < 10; at += 1) ask(at);
      clock.stand(pauseMs);
      ask(10);
      return surgeLimit.surge()?.turning;
    };
    assert.deepEqual([surgeAfter(59_000), surgeAfter(61_000)], [11, undefined]);
  });

  readyTest(
    'does not follow from a few failures',
    { targets: 100, probe },
    async ({ clock, answer, publishedEvents }) => {
      answer((_, port) => (port <= 30 ? failing : healthy));
      await clock.advance(30_000);
      assert.equal(publishedEvents('Probe Surge Detected').length, 0);
    },
  );
});
