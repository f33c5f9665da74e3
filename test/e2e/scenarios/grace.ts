import assert from 'node:assert/strict';
import { closedPort } from '../apps.ts';
import { exists, succeeds } from '../commands.ts';
import { type Place, restartCount, type Scenario, type Stage } from '../stage.ts';

/** The target's own is long, the probe's short: the restart request has to carry the probe's. */
const terminationGracePeriodSeconds = 500;
const failing = { initialDelaySeconds: 10, failureThreshold: 1, terminationGracePeriodSeconds: 5 };

export const graceScenarios = (place: Place): readonly Scenario[] => [
  {
    name: 'a grace period of the liveness probe goes before the target’s',
    async run(stage) {
      const { port } = await stage.use(closedPort(stage.world));
      const livenessProbe = { ...failing, httpGet: { path: '/healthz', port } };
      await stage.register(place, { livenessProbe }, { terminationGracePeriodSeconds });
      await restartedWithOwnGrace(stage);
    },
  },
  {
    name: 'a grace period of the startup probe goes before the target’s',
    async run(stage) {
      const probes = {
        startupProbe: { ...failing, exec: { command: exists(stage.file('startup')) } },
        livenessProbe: { exec: { command: succeeds }, initialDelaySeconds: 15, failureThreshold: 1 },
      };
      await stage.register(place, probes, { terminationGracePeriodSeconds });
      await restartedWithOwnGrace(stage);
    },
  },
];

async function restartedWithOwnGrace(stage: Stage): Promise<void> {
  await stage.until('restarted', 40_000, (view) => restartCount(view) >= 1);
  const [request] = stage.events('Container Restart Requested');
  assert.equal(request?.detail.terminationGracePeriodSeconds, failing.terminationGracePeriodSeconds);
}
