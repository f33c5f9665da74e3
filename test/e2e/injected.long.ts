import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startInjectedWorld } from './injected-world.ts';
import { playScenario, scenarios } from './scenarios.ts';

describe('kubelet’s end-to-end cases, under an injected clock', () => {
  for (const scenario of scenarios) {
    test(scenario.name, async () => {
      const world = startInjectedWorld();
      try {
        await world.play(playScenario(world, scenario));
      } finally {
        await world.stop();
      }
      const errors = world.log.lines.filter(({ level }) => level === 'error');
      assert.deepEqual(errors, []);
    });
  }
});
