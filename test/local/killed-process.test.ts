/** One machine whose process is killed and started again at once, whatever moment of a slot that meets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SteppedWorld, steppedWorld } from './stepped-world.ts';

const slotMs = 13 * 60_000;
const downMs = 1_000;
const watchedMs = 60_000;
/** Short, so that no wait of the process hides behind that for the next instant of a probe's phase. */
const periodSeconds = 1;
/** From the start: a probe may wait for its next instant, and as long again because a hand-over met it. */
const gapMaxMs = 2 * periodSeconds * 1_000 + 1_000;
/** Around the end of a slot: a beat (5 s), how long one counts as fresh (10 s), the lease (15 s), and between. */
const aroundSlotEndMs = [
  -240_500, -60_000, -16_000, -11_000, -8_500, -6_000, -4_500, -2_500, -900, -100, 100, 2_000, 9_000,
];
/** A process may be killed while it still starts. */
const kills = [1, 2, 3];
const livesMs = 3_000;

async function newWorld() {
  const world = steppedWorld();
  for (const port of [1, 3]) await world.register(port, periodSeconds);
  return world;
}

async function killed({ kill, advance, startAgain }: SteppedWorld): Promise<void> {
  kill();
  await advance(downMs);
  await startAgain();
}

/** From now on. */
async function probesInTime({ takeGaps, advance, stop }: SteppedWorld): Promise<void> {
  takeGaps();
  await advance(watchedMs);
  const late = takeGaps().filter(([, gapMs]) => gapMs > gapMaxMs);
  assert.deepEqual(late, []);
  await stop();
}

for (const atMs of aroundSlotEndMs)
  for (const count of kills)
    test(`a process that is killed ${count} times, first ${atMs} ms after the end of a slot, probes again at once`, async () => {
      const world = await newWorld();
      const toSlotEndMs = slotMs - (world.nowMs() % slotMs);
      await world.advance(toSlotEndMs + slotMs + atMs);
      for (let kill = 1; kill <= count; kill += 1) {
        if (kill > 1) await world.advance(livesMs);
        await killed(world);
      }
      await probesInTime(world);
    });

/** A holder keeps to its slot by monotonic time, so RUN may name one that lies ahead by the clock. */
const stepMinutes = [-30, -13, -5, 0, 5, 13, 30];
const sinceStepMs = [1_000, 60_000, 150_000, 400_000];

for (const minutes of stepMinutes)
  for (const sinceMs of sinceStepMs)
    test(`killed ${sinceMs / 1_000} s after a step of ${minutes} min, it probes again at once`, async () => {
      const world = await newWorld();
      await world.advance(slotMs + periodSeconds * 1_000);
      world.step(minutes * 60_000);
      await world.advance(sinceMs);
      await killed(world);
      await probesInTime(world);
    });
