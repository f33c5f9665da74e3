import assert from 'node:assert/strict';
import type { ProbeInput } from '../../../shared/core/spec-input.ts';
import { type App, closedPort, hang, httpApp, livenessApp } from '../apps.ts';
import { exists, failsWithOrphan, hangingCommand } from '../commands.ts';
import { neverRestarted, type Place, probedStatus, restartCount, type Scenario, type Stage } from '../stage.ts';

/** As kubelet's suite observes. */
const observedMs = 240_000;
const initialDelaySeconds = 15;
/** The listeners fail from 10 s after their start on. */
const failAfterMs = 10_000;

export const livenessScenarios = (place: Place): readonly Scenario[] => [
  restartedBy(place, 'a command that fails after a while', async (stage) => {
    const health = stage.file('health');
    const play = () => {
      health.write();
      stage.after(failAfterMs, health.remove);
    };
    play();
    stage.onRestart(play);
    return { exec: { command: exists(health) }, timeoutSeconds: 5 };
  }),
  neverRestartedBy(place, 'a command that succeeds', async (stage) => {
    const health = stage.file('health');
    health.write();
    return { exec: { command: exists(health) }, timeoutSeconds: 5 };
  }),
  restartedBy(place, 'HTTP that fails after a while', async (stage) => ({
    httpGet: { path: '/healthz', port: (await restartable(stage)).port },
  })),
  neverRestartedBy(place, 'HTTP that succeeds', async (stage) => ({
    httpGet: { path: '/', port: (await restartable(stage)).port },
    timeoutSeconds: 5,
    failureThreshold: 5,
  })),
  restartedBy(place, 'HTTP that is never answered', async (stage) => {
    const { port } = await stage.use(httpApp(stage.world, () => hang));
    return { httpGet: { path: '/', port } };
  }),
  neverRestartedBy(place, 'TCP while only HTTP fails', async (stage) => ({
    tcpSocket: { port: (await restartable(stage)).port },
  })),
  restartedBy(place, 'TCP that is refused', async (stage) => ({
    tcpSocket: { port: (await stage.use(closedPort(stage.world))).port },
  })),
  restartedBy(place, 'a command that times out', async (stage) => ({
    exec: { command: hangingCommand(stage.world) },
    timeoutSeconds: 1,
  })),
  restartedBy(place, 'a failing command whose child outlives the time-out', async (stage) => ({
    exec: { command: failsWithOrphan(stage.world) },
    timeoutSeconds: 1,
  })),
  restartedBy(place, 'HTTP redirected to a local path that fails after a while', async (stage) => ({
    httpGet: {
      path: `/redirect?loc=${encodeURIComponent('/healthz')}`,
      port: (await restartable(stage)).port,
    },
  })),
  {
    name: 'liveness by HTTP redirected to another host: not followed, success with a warning',
    async run(stage) {
      const app = await restartable(stage);
      const path = `/redirect?loc=${encodeURIComponent('http://0.0.0.0/')}`;
      await stage.register(place, { livenessProbe: liveness({ httpGet: { path, port: app.port } }) });
      await stage.during('not restarted', observedMs, neverRestarted);
      const [warning] = stage.events('Container Probe Warning');
      assert.match(warning?.detail.message ?? '', /^Liveness probe warning: Probe terminated redirects/);
      assert.ok(app.requests.every((requested) => requested === path));
    },
  },
  {
    name: 'liveness that fails again and again: the restart count only grows, with back-off',
    run: (stage) => restartedFiveTimes(place, stage),
  },
];

async function restartable(stage: Stage): Promise<App> {
  const app = await stage.use(livenessApp(stage.world));
  stage.onRestart(app.restart);
  return app;
}

const liveness = (probe: ProbeInput): ProbeInput => ({ initialDelaySeconds, failureThreshold: 1, ...probe });

type Prepare = (stage: Stage) => Promise<ProbeInput>;

function restartedBy(place: Place, what: string, prepare: Prepare): Scenario {
  return {
    name: `liveness by ${what}: restarted`,
    async run(stage) {
      await stage.register(place, { livenessProbe: liveness(await prepare(stage)) });
      const view = await stage.until('restarted', observedMs, (seen) => restartCount(seen) >= 1);
      const [request] = stage.events('Container Restart Requested');
      assert.equal(request?.detail.container, probedStatus(view).name);
      assert.equal(request?.detail.probeType, 'liveness');
      assert.match(request?.detail.message ?? '', /^Container probed failed liveness probe, will be restarted$/);
    },
  };
}

function neverRestartedBy(place: Place, what: string, prepare: Prepare): Scenario {
  return {
    name: `liveness by ${what}: never restarted`,
    async run(stage) {
      await stage.register(place, { livenessProbe: liveness(await prepare(stage)) });
      await stage.during('not restarted', observedMs, neverRestarted);
      const { probes } = (await stage.get()).status;
      assert.deepEqual(
        probes.map(({ result }) => result),
        ['success'],
      );
    },
  };
}

const restarts = 5;
/** Back-offs of 10 + 20 + 40 + 80 s, and each incarnation fails within two periods. */
const fiveRestartsMs = 150_000 + restarts * 20_000;

async function restartedFiveTimes(place: Place, stage: Stage): Promise<void> {
  const { port } = await restartable(stage);
  await stage.register(place, {
    livenessProbe: { httpGet: { path: '/healthz', port }, initialDelaySeconds: 5, failureThreshold: 1 },
  });
  const counts: number[] = [];
  const reasons = new Set<string | undefined>();
  await stage.until('restarted five times', fiveRestartsMs, (view) => {
    counts.push(restartCount(view));
    reasons.add(probedStatus(view).state.waiting?.reason);
    return restartCount(view) >= restarts;
  });
  assert.deepEqual(
    counts,
    [...counts].sort((a, b) => a - b),
  );
  assert.ok(reasons.has('CrashLoopBackOff'));
  assert.deepEqual(backoffSeconds(stage), [0, 10, 20, 40, 80]);
}

/** Per restart: how long it had to wait, by the first request for it. */
function backoffSeconds(stage: Stage): readonly number[] {
  const waits = new Map<string, number>();
  for (const { time, detail } of stage.events('Container Restart Requested')) {
    const waitMs = detail.notBefore === undefined ? 0 : Date.parse(detail.notBefore) - Date.parse(time);
    // An event tells its time in whole seconds, rounded down.
    if (!waits.has(detail.containerID)) waits.set(detail.containerID, Math.floor(waitMs / 1000));
  }
  return [...waits.values()];
}
