import assert from 'node:assert/strict';
import type { ProbeInput } from '../../../shared/core/spec/spec-input.ts';
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
      assert.ok(app.requests.every((asked) => asked.path === path));
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

/** As kubelet says it: computePodActions names a sidecar otherwise than a container (kuberuntime_manager.go). */
const restartTexts: Readonly<Record<Place, string>> = {
  container: 'Container probed failed liveness probe, will be restarted',
  sidecar: 'Init container probed failed liveness probe',
};

function restartedBy(place: Place, what: string, prepare: Prepare): Scenario {
  return {
    name: `liveness by ${what}: restarted`,
    async run(stage) {
      await stage.register(place, { livenessProbe: liveness(await prepare(stage)) });
      const view = await stage.until('restarted', observedMs, (seen) => restartCount(seen) >= 1);
      const [request] = stage.events('Container Restart Requested');
      assert.equal(request?.detail.container, probedStatus(view).name);
      assert.equal(request?.detail.probeType, 'liveness');
      assert.equal(request?.detail.message, restartTexts[place]);
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
/** Back-offs of 10 + 20 + 40 + 80 s; each incarnation fails within two periods of its report. */
const fiveRestartsMs = 150_000 + restarts * (20_000 + 5_000);
/** How long each restart waits, in seconds: kubelet's crash-loop back-off, which does not delay the first. */
const waitsSeconds = [0, 10, 20, 40, 80];
/** The wait is timed by the monotonic clock, its ends are read from the wall clock. */
const clocksApartSeconds = 0.1;

async function restartedFiveTimes(place: Place, stage: Stage): Promise<void> {
  const { port } = await restartable(stage);
  await stage.register(place, {
    livenessProbe: { httpGet: { path: '/healthz', port }, initialDelaySeconds: 5, failureThreshold: 1 },
  });
  const seen: ReturnType<typeof probedStatus>[] = [];
  await stage.until('restarted five times', fiveRestartsMs, (view) => {
    seen.push(probedStatus(view));
    return restartCount(view) >= restarts;
  });
  const counts = seen.map((status) => status.restartCount);
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => a - b),
  );
  const backingOff = seen.filter(({ state }) => state.waiting?.reason === 'CrashLoopBackOff');
  assert.ok(backingOff.length > 0);
  assert.ok(backingOff.every(({ ready, started }) => !ready && started === false));
  for (const [index, waited] of waitsOf(seen).entries()) {
    const late = waited - (waitsSeconds[index] ?? Number.NaN);
    const lateMax = stage.world.slackMs / 1_000 + clocksApartSeconds;
    assert.ok(late >= -clocksApartSeconds && late <= lateMax, `restart ${index + 1} waited ${waited} s`);
  }
  assert.deepEqual(requestedOnce(stage), [0, 1, 2, 3, 4]);
}

/** Per restart: between the end of one run and the start of the next. */
function waitsOf(seen: readonly ReturnType<typeof probedStatus>[]): readonly number[] {
  const waits = new Map<number, number>();
  for (const { restartCount: count, state, lastState } of seen) {
    const [started, finished] = [state.running?.startedAt, lastState.terminated?.finishedAt];
    if (started && finished) waits.set(count, (Date.parse(started) - Date.parse(finished)) / 1_000);
  }
  assert.equal(waits.size, restarts);
  return [...waits.values()];
}

/** The restart counts of the containers for which a restart was requested; the attempts for each count up from 1. */
function requestedOnce(stage: Stage): readonly number[] {
  const attempts = new Map<string, readonly number[]>();
  for (const { detail } of stage.events('Container Restart Requested')) {
    const { containerID, attempt } = detail;
    attempts.set(containerID, [...(attempts.get(containerID) ?? []), attempt]);
  }
  for (const [containerID, made] of attempts)
    assert.deepEqual(
      made,
      made.map((_, index) => index + 1),
      containerID,
    );
  return [...attempts.keys()].map((containerID) => Number(containerID.split('/').at(-1)));
}
