import assert from 'node:assert/strict';
import { closedPort, livenessApp } from '../apps.ts';
import { hangingCommand } from '../commands.ts';
import { conditionOf, isReady, neverRestarted, type Place, probedStatus, type Scenario } from '../stage.ts';

const initialDelaySeconds = 15;
const minuteMs = 60_000;

export const readinessScenarios = (place: Place): readonly Scenario[] => [
  {
    name: 'readiness with initial delay: not ready before it, never restarted',
    async run(stage) {
      const { port } = await stage.use(livenessApp(stage.world));
      await stage.register(place, { readinessProbe: { httpGet: { path: '/', port }, initialDelaySeconds } });
      const view = await stage.until('ready', 2 * initialDelaySeconds * 1000, isReady);
      const startedMs = Date.parse(probedStatus(view).state.running?.startedAt ?? '');
      const readyMs = Date.parse(conditionOf(view, 'Ready')?.lastTransitionTime ?? '');
      assert.ok(readyMs - startedMs >= initialDelaySeconds * 1000, `ready ${readyMs - startedMs} ms after the start`);
      assert.ok(neverRestarted(view));
    },
  },
  {
    name: 'readiness that fails: never ready, never restarted',
    async run(stage) {
      const { port } = await stage.use(closedPort(stage.world));
      await stage.register(place, { readinessProbe: { httpGet: { path: '/', port } } });
      await stage.during('not ready and not restarted', minuteMs, (view) => !isReady(view) && neverRestarted(view));
      assert.notEqual(stage.events('Container Unhealthy').length, 0, 'it was not even probed');
    },
  },
  {
    name: 'readiness by a command that times out: not ready',
    async run(stage) {
      const command = hangingCommand(stage.world);
      await stage.register(place, {
        readinessProbe: { exec: { command }, initialDelaySeconds, timeoutSeconds: 1, failureThreshold: 1 },
      });
      await stage.during('not ready', minuteMs, (view) => !isReady(view));
      const [unhealthy] = stage.events('Container Unhealthy');
      assert.match(
        unhealthy?.detail.message ?? '',
        /^Readiness probe failed: command timed out: ".*" timed out after 1s$/,
      );
      assert.ok(neverRestarted(await stage.get()));
    },
  },
];
