/** One machine whose wall clock is set by minutes: by less than a slot, or a little more, while it runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { periodSeconds, steppedWorld } from './stepped-world.ts';

const minuteMs = 60_000;
/** Longer than two slots. */
const watchedMs = 30 * minuteMs;
const beforeMs = 8 * minuteMs;
/** A probe may wait for the next instant of its phase, and as long again because a hand-over met it. */
const gapMaxMs = 2 * periodSeconds * 1_000 + 1_000;

/** Around the lead of a slot's message (4 min), a slot (13 min) and both. */
const stepMinutes = [-18, -16, -13, -9, -5, -3, 5, 16];

for (const minutes of stepMinutes)
  test(`a clock that is set by ${minutes} min costs no probing`, async () => {
    const world = steppedWorld();
    for (const port of [1, 3]) await world.register(port);
    await world.advance(beforeMs);
    world.takeGaps();
    world.step(minutes * minuteMs);
    await world.advance(watchedMs);
    const late = world.takeGaps().filter(([, gapMs]) => gapMs > gapMaxMs);
    assert.deepEqual(late, []);
    await world.stop();
  });

/** What a step of hours may cost at once. */
const resumesMs = 2 * minuteMs;

/**
 * A message of a slot that is hours ahead waits in the queue until the slot of the holder is over. Its own slot counts
 * as done after it, and messages of the slots that have come since are dropped.
 */
for (const [startMinute, aheadMinutes, backMinutes] of [
  [0, 427, 180],
  [0, 428, 186],
  [4, 428, 192],
  [8, 427, 192],
] as const)
  test(`a clock that is ${aheadMinutes} min ahead for 2 min costs nothing later: ${startMinute}, ${backMinutes}`, async () => {
    const world = steppedWorld();
    await world.register(1);
    await world.advance((13 + startMinute) * minuteMs);
    world.step(aheadMinutes * minuteMs + 31_000);
    await world.advance(2 * minuteMs);
    world.step(backMinutes * minuteMs);
    await world.advance(resumesMs);
    world.takeGaps();
    await world.advance(watchedMs);
    const late = world.takeGaps().filter(([, gapMs]) => gapMs > gapMaxMs);
    assert.deepEqual(late, []);
    await world.stop();
  });
