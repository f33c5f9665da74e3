import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countOf, massWorld } from './mass-world.ts';

/** Of docs/design/status.md. */
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
