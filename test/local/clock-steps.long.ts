/** One machine whose wall clock is set while it runs: by an hour or a day, ahead or back, with a restart or without. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { periodSeconds, steppedWorld } from './stepped-world.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Within this, beside its period, every target is probed again. */
const resumesMs = 60_000;

/** Of each port: to request a restart pauses no probe. */
const gapMaxMs = periodSeconds * 1_000 + resumesMs;

const steps = { 'an hour ahead': hourMs, 'a day ahead': dayMs, 'an hour behind': -hourMs, 'a day behind': -dayMs };

for (const [name, stepMs] of Object.entries(steps))
  for (const isRestarted of [false, true])
    describe(`a wall clock that is ${name} for 20 minutes${isRestarted ? ', and a restart at each step' : ''}`, () => {
      test('costs a minute of probing at most, as it is set and as it is set back', async () => {
        const world = steppedWorld();
        await world.register(1);
        await world.advance(3 * minuteMs);
        for (const ms of [stepMs, 0]) {
          world.takeGaps();
          world.step(ms);
          if (isRestarted) await world.restart();
          await world.advance(2 * minuteMs);
          if (ms === stepMs) for (const port of [2, 3]) await world.register(port);
          await world.advance(ms === stepMs ? 20 * minuteMs : 40 * minuteMs);
          const gaps = world.takeGaps();
          const ports = gaps.map(([port]) => port);
          assert.deepEqual(ports, [1, 2, 3]);
          for (const [port, gapMs] of gaps)
            assert.ok(gapMs <= gapMaxMs, `port ${port} was not probed for ${gapMs / 1_000} s at ${ms}`);
        }
        await world.stop();
        assert.ok(!world.log.lines.some(({ level }) => level === 'error'), JSON.stringify(world.log.lines));
      });
    });

/** More than a warm start makes. */
const handOverCalls = 12;

const corrections = { 'a day ahead is set back': dayMs, 'an hour behind is set right': -hourMs };
const periodsMs = { resident: periodSeconds * 1_000, tick: minuteMs };

for (const [name, stepMs] of Object.entries(corrections))
  for (let call = 0; call < handOverCalls; call += 1)
    for (const mode of ['resident', 'tick'] as const)
      test(`${mode}: a wall clock that is ${name} at call ${call} of the store since its slot ended costs a minute beside its period at most`, async () => {
        const world = steppedWorld(mode);
        for (const port of [1, 2]) await world.register(port);
        await world.advance(3 * minuteMs);
        world.step(stepMs);
        await world.advance(2 * minuteMs);
        world.takeGaps();
        const isSet = world.stepAtCall(0, call);
        await world.advance(16 * minuteMs);
        assert.ok(isSet());
        for (const [port, gapMs] of world.takeGaps())
          assert.ok(gapMs <= periodsMs[mode] + resumesMs, `port ${port} was not probed for ${gapMs / 1_000} s`);
        await world.stop();
      });
