import assert from 'node:assert/strict';
import { exists } from '../commands.ts';
import { isReady, neverRestarted, type Place, type Scenario } from '../stage.ts';

const often = { initialDelaySeconds: 5, failureThreshold: 1 };
const minuteMs = 60_000;
/** A report of how the containers ended may come so much later than the grace period: docs/api.md. */
const lateReportMs = 10_000;

export const terminationScenarios = (place: Place): readonly Scenario[] => [
  {
    name: 'terminating: readiness turns false, and with the grace period everything ends',
    async run(stage) {
      const ready = stage.file('ready');
      ready.write();
      await stage.register(place, { readinessProbe: { ...often, exec: { command: exists(ready) }, periodSeconds: 2 } });
      await stage.until('ready', 20_000, isReady);
      await stage.terminate(30);
      ready.remove();
      await stage.until('not ready', 6_000, (view) => !isReady(view));
      await stage.sleep(30_000 + lateReportMs + stage.world.slackMs);
      assert.equal(await stage.find(), undefined);
    },
  },
  {
    name: 'terminating: readiness turns false, and for a minute no liveness failure',
    async run(stage) {
      const [ready, alive] = [stage.file('ready'), stage.file('alive')];
      ready.write();
      alive.write();
      await stage.register(place, {
        readinessProbe: { ...often, exec: { command: exists(ready) }, periodSeconds: 2 },
        livenessProbe: { ...often, exec: { command: exists(alive) }, periodSeconds: 1 },
      });
      await stage.until('ready', 20_000, isReady);
      await stage.terminate(2 * (minuteMs / 1000));
      ready.remove();
      alive.remove();
      await stage.until('not ready', 6_000, (view) => !isReady(view));
      await stage.during('not restarted', minuteMs, neverRestarted);
      const failures = stage.events('Container Unhealthy').filter(({ detail }) => detail.probeType === 'liveness');
      assert.deepEqual([...failures, ...stage.events('Container Restart Requested')], []);
    },
  },
];
