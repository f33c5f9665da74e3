import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { surgeLimitOf } from '../../../shared/run/self-check/surge.ts';
import { failing, healthy, type ProbedOptions, probedWorld, type ShardWorld } from '../../support/shard-world.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

/** Targets that were published as failed since then, each with the last time. */
function failedSince(world: ShardWorld, fromMs: number): ReadonlyMap<string, number> {
  const failed = new Map<string, number>();
  for (const { time, detail } of world.published)
    if ('result' in detail && detail.result === 'failure' && Date.parse(time) >= fromMs)
      failed.set(detail.target.name, Date.parse(time));
  return failed;
}

/** Ready targets, held. */
async function readyWorld(options: ProbedOptions) {
  const world = await probedWorld(options);
  const run = await world.hold();
  await world.clock.advance(40_000);
  return { world, run };
}

test('a surge makes no healthy target unknown', async () => {
  const { world, run } = await readyWorld({ targets: 1_000 });
  const { clock } = world;
  world.answer((_, port) => (port <= 900 ? failing : healthy));
  const unknown: number[] = [];
  for (let second = 0; second < 100; second += 5) {
    await clock.advance(5_000);
    const late = run.view()?.beat.late ?? 0;
    if (late > 0) unknown.push(second);
  }
  assert.deepEqual(unknown, []);
  await run.stop();
});

/** From when its threshold is met until the failure of a target is published. */
const publishedMsMax = 60_000;

for (const [periodSeconds, failureThreshold, targets] of [
  [1, 1, 300],
  [10, 3, 1_000],
  [30, 1, 300],
  [40, 1, 300],
] as const)
  test(`when all targets with a period of ${periodSeconds} s go down, all are published within 60 s beyond their threshold of ${failureThreshold}`, async () => {
    const { world, run } = await readyWorld({ targets, probe: { periodSeconds, failureThreshold } });
    const { clock } = world;
    const downAtMs = clock.nowMs();
    world.answer(() => failing);
    await clock.advance((failureThreshold - 1) * periodSeconds * 1_000 + publishedMsMax);
    assert.equal(failedSince(world, downAtMs).size, targets);
    await run.stop();
  });

describe('a surge', () => {
  test('is published at once, and once', async () => {
    const { world, run } = await readyWorld({ targets: 50, probe: { failureThreshold: 1 } });
    const { clock } = world;
    const downAtMs = clock.nowMs();
    world.answer(() => failing);
    for (let second = 0; second < 30 && failedSince(world, downAtMs).size < 16; second += 1) await clock.advance(1_000);
    assert.equal(world.publishedEvents('Probe Surge Detected').length, 1);
    await clock.advance(120_000);
    const [surge, ...more] = world.publishedEvents('Probe Surge Detected');
    assert.deepEqual(more, []);
    assert.deepEqual([surge?.turning, surge?.targets, surge?.hashRange], [16, 50, '00-ff']);
    await run.stop();
  });

  test('is published again until the bus has taken it, with the same id', async () => {
    const { world, run } = await readyWorld({ targets: 50, probe: { failureThreshold: 1 } });
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
    await run.stop();
  });

  test('holds back no recovery', async () => {
    const { world, run } = await readyWorld({ targets: 100, probe: { failureThreshold: 1 } });
    const { clock } = world;
    world.answer(() => failing);
    await clock.advance(60_000);
    const before = world.publishedEvents('Probe Result Changed').length;
    world.answer(() => healthy);
    // A period.
    await clock.advance(11_000);
    assert.equal(world.publishedEvents('Probe Result Changed').length - before, 100);
    await run.stop();
  });

  test('counts the targets of one minute', () => {
    const surgeAfter = (pauseMs: number) => {
      const clock = virtualClock();
      const surgeLimit = surgeLimitOf(clock, () => {});
      const ask = (at: number) => surgeLimit.ask({ target: `t${at}`, periodMs: 10_000, targets: 20 });
      for (let at = 0; at < 10; at += 1) ask(at);
      clock.stand(pauseMs);
      ask(10);
      return surgeLimit.surge()?.turning;
    };
    assert.deepEqual([surgeAfter(59_000), surgeAfter(61_000)], [11, undefined]);
  });

  test('is not one of the few that fail by chance', async () => {
    const { world, run } = await readyWorld({ targets: 100, probe: { failureThreshold: 1 } });
    const { clock } = world;
    world.answer((_, port) => (port <= 30 ? failing : healthy));
    await clock.advance(30_000);
    assert.equal(world.publishedEvents('Probe Surge Detected').length, 0);
    await run.stop();
  });
});
