import assert from 'node:assert/strict';
import { exists, fails, succeeds } from '../commands.ts';
import {
  type Expectation,
  isReady,
  isStarted,
  neverRestarted,
  type Place,
  restartCount,
  type Scenario,
} from '../stage.ts';

const observedMs = 240_000;
const initialDelaySeconds = 15;
const failing = { exec: { command: fails }, initialDelaySeconds, failureThreshold: 1 };

export const startupScenarios = (place: Place): readonly Scenario[] => [
  {
    name: 'startup that fails: restarted, although liveness would succeed',
    async run(stage) {
      await stage.register(place, {
        startupProbe: { ...failing, failureThreshold: 3 },
        livenessProbe: { ...failing, exec: { command: succeeds } },
      });
      await stage.until('restarted', observedMs, (view) => restartCount(view) >= 1);
      assert.equal(stage.events('Container Restart Requested')[0]?.detail.probeType, 'startup');
    },
  },
  {
    name: 'startup delays liveness: never restarted',
    async run(stage) {
      await stage.register(place, { startupProbe: { ...failing, failureThreshold: 60 }, livenessProbe: failing });
      const notStarted: Expectation = (view) => neverRestarted(view) && !isStarted(view);
      await stage.during('not started and not restarted', observedMs, notStarted);
    },
  },
  {
    name: 'liveness acts after startup: restarted',
    async run(stage) {
      const startup = stage.file('startup');
      stage.after(10_000, startup.write);
      await stage.register(place, {
        startupProbe: { ...failing, exec: { command: exists(startup) }, failureThreshold: 60 },
        livenessProbe: failing,
      });
      await stage.until('restarted', observedMs, (view) => restartCount(view) >= 1);
      assert.equal(stage.events('Container Restart Requested')[0]?.detail.probeType, 'liveness');
    },
  },
  {
    name: 'startup delays readiness: ready at once after it, although the readiness period is 30 s',
    async run(stage) {
      const [health, startup] = [stage.file('health'), stage.file('startup')];
      health.write();
      await stage.register(place, {
        startupProbe: { exec: { command: exists(startup) }, failureThreshold: 120, periodSeconds: 5 },
        readinessProbe: { exec: { command: exists(health) }, periodSeconds: 30 },
      });
      await stage.during('not ready', 32_000, (view) => !isReady(view));
      startup.write();
      await stage.until('started', 5_000, isStarted);
      await stage.until('ready', 1_000, isReady);
      assert.ok(neverRestarted(await stage.get()));
    },
  },
];
