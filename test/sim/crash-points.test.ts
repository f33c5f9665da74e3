import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { crashPoints } from './crash-points.ts';

function worldOf() {
  let nowMs = 0;
  let struck: string[] = [];
  const life = { name: 'w-1.1', role: 'w', alive: true, pausedUntilMs: 0, timersFirst: true, skewMs: 0 };
  const process = {
    name: 'w-1',
    role: 'w',
    life: () => life,
    crash: () => undefined,
    pause: () => undefined,
    stepClock: () => undefined,
  };
  const points = crashPoints({ nowMs: () => nowMs }, { pick: (items) => items[0] as (typeof items)[number] });
  return {
    points,
    wait: (ms: number) => {
      nowMs += ms;
    },
    /** Passes these places; says at which the process was paused. */
    pass(...sites: readonly string[]): readonly string[] {
      struck = [];
      for (const site of sites) {
        points.at(life, site, 'before');
        if (life.pausedUntilMs > nowMs) struck.push(site);
        nowMs += 1;
      }
      return struck;
    },
    arm: (isStorm: () => boolean = () => true) =>
      points.arm(process, () => {
        if (isStorm()) life.pausedUntilMs = nowMs + 1;
      }),
  };
}

describe('crash points', () => {
  test('what is armed happens at places that were never struck', () => {
    const { arm, pass } = worldOf();
    arm();
    assert.deepEqual(pass('a', 'b'), ['a']);
    arm();
    assert.deepEqual(pass('a', 'a', 'b', 'a'), ['b']);
  });

  test('what waits in vain strikes elsewhere once the next is armed', () => {
    const { arm, pass, wait } = worldOf();
    arm();
    pass('a');
    arm();
    wait(600_000);
    assert.deepEqual(pass('a'), []);
    arm();
    wait(60_001);
    assert.deepEqual(pass('a', 'a', 'b'), ['a', 'b']);
  });

  test('what everybody passes all the time does not use up what waits for the rest', () => {
    const { arm, pass } = worldOf();
    pass(...Array(30).fill('often'), 'sometimes', 'sometimes');
    arm();
    assert.deepEqual(pass(...Array(30).fill('often'), 'sometimes'), ['sometimes']);
  });

  test('where nothing was done counts as passed only', () => {
    const { arm, pass, points } = worldOf();
    let isStorm = false;
    arm(() => isStorm);
    assert.deepEqual(pass('a'), []);
    isStorm = true;
    assert.deepEqual(pass('a'), ['a']);
    assert.deepEqual(points.coverage().get('w: a, before'), { passed: 2, struck: 1 });
  });
});
