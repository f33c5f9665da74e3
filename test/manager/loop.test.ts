import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTargetTicker } from '../../shared/core/ticker.ts';
import type { HeldProbe, HeldTarget } from '../../shared/manager/held.ts';
import { startLoop } from '../../shared/manager/loop.ts';
import type { Run } from '../../shared/manager/run.ts';
import { StoreUnavailable } from '../../shared/store/store.ts';
import { recordingLog } from '../support/recording-log.ts';
import { virtualClock } from '../support/virtual-clock.ts';

/** A loop over one target with one probe of a 10 s period; nothing of them is looked at but what the loop needs. */
function loopOfOne() {
  const clock = virtualClock();
  const log = recordingLog();
  const run = { ports: { clock, log }, ended: () => undefined } as unknown as Run;
  const ticker = newTargetTicker(clock.nowMs(), { phaseMs: 0, periodMs: 10_000 });
  const probe = {
    name: 'app#readiness',
    ticker,
    wake: 0,
    inFlight: false,
    manners: 'new',
    spec: {},
  } as unknown as HeldProbe;
  const held = { gone: false, wake: 0, probes: new Map([[probe.name, probe]]) } as unknown as HeldTarget;
  return { clock, log, held, probe, loop: startLoop(run) };
}

const jumped = () => undefined;

test('a worker goes on after a cycle that threw', async () => {
  const { clock, log, held, probe, loop } = loopOfOne();
  let cycles = 0;
  const cycle = async () => {
    cycles += 1;
    throw new Error('a panic inside one probe');
  };
  loop.start({ cycle, tend: async () => undefined, jumped });
  loop.schedule(held, probe);
  await clock.advance(60_000);
  assert.ok(cycles >= 5, `${cycles} cycles`);
  assert.equal(loop.inFlight(), 0);
  assert.equal(log.lines[0]?.level, 'error');
});

test('a target is looked at again after a look that failed because the store was out of reach', async () => {
  const { clock, log, held, loop } = loopOfOne();
  let looks = 0;
  const tend = async () => {
    looks += 1;
    if (looks < 3) throw new StoreUnavailable('for a while');
  };
  loop.start({ cycle: async () => undefined, tend, jumped });
  loop.scheduleTarget(held, clock.nowMs());
  await clock.advance(60_000);
  assert.equal(looks, 3);
  assert.deepEqual(
    log.lines.map(({ level }) => level),
    ['warn', 'warn'],
  );
});
