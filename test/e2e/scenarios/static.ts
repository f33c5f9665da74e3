/** Lifecycle `static`: restarts are requested, and the subscriber that performs them reports them. */
import assert from 'node:assert/strict';
import type { TargetSpecInput } from '../../../shared/core/spec/spec-input.ts';
import { type App, type AppState, broken, httpApp, ok } from '../apps.ts';
import {
  conditionOf,
  containerID,
  type Expectation,
  isReady,
  isStarted,
  neverRestarted,
  type Place,
  probedStatus,
  restartCount,
  type Scenario,
  type Stage,
} from '../stage.ts';

const isStatic: Partial<TargetSpecInput> = { lifecycle: 'static' };
const periodSeconds = 5;
const periodMs = periodSeconds * 1_000;
const readyWithinMs = 20_000;
/** Between the requests: kubelet's crash-loop back-off. The API's instants of events are whole seconds. */
const pausesSeconds = [10, 20];
const roundedSeconds = 1;
/** The third request comes 30 s after the first. */
const threeRequestsMs = 35_000;
const goesOnMs = 20_000;

export const staticScenarios = (place: Place): readonly Scenario[] => [
  {
    name: 'static: liveness fails: restarts are requested, probing goes on, and a success shows at once',
    run: (stage) => failsAndRecovers(place, stage),
  },
  {
    name: 'static: startup fails: a restart is requested, probing goes on, and a success opens the gate',
    run: (stage) => startsLate(place, stage),
  },
  {
    name: 'static: a reported restart: a new container, its gate closed and its initial delay anew',
    run: (stage) => restartReported(place, stage),
  },
];

async function failsAndRecovers(place: Place, stage: Stage): Promise<void> {
  let isWell = true;
  const app = await stage.use(httpApp(stage.world, () => (isWell ? ok : broken)));
  const livenessProbe = { httpGet: { path: '/live', port: app.port }, periodSeconds, failureThreshold: 1 };
  await stage.register(place, { livenessProbe }, isStatic);
  const first = await stage.until('ready', readyWithinMs, isReady);
  isWell = false;
  const brokenAtMs = stage.world.clock.monotonicMs();
  const isSame: Expectation = (view) => neverRestarted(view) && containerID(view) === containerID(first);
  await stage.until('requested three times', periodMs + threeRequestsMs, (view) => {
    assert.ok(isSame(view) && isRunning(view));
    return requestsOf(stage).length > pausesSeconds.length;
  });
  await stage.during('failing, and the same container', goesOnMs, (view) => isSame(view) && !isReady(view));
  probedAtItsPeriod(stage, app, brokenAtMs);
  isWell = true;
  await stage.until('ready again', periodMs, (view) => isReady(view) && isSame(view));
  requestedWithBackoff(stage);
  await recoveredOnce(stage, { containerID: containerID(first), attempts: 1 + pausesSeconds.length });
}

const isRunning: Expectation = (view) => probedStatus(view).state.running !== undefined;

/** On a busy machine the prober may doubt itself, and then Ready is Unknown. */
const isNotFailing: Expectation = (view) => conditionOf(view, 'Ready')?.status !== 'False';

const requestsOf = (stage: Stage) => stage.events('Container Restart Requested').map(({ detail }) => detail);

function probedAtItsPeriod({ world }: Stage, { requests }: App, sinceMs: number): void {
  const expected = (world.clock.monotonicMs() - sinceMs) / periodMs;
  const count = requests.filter(({ atMs }) => atMs >= sinceMs).length;
  assert.ok(Math.abs(count - expected) <= 1 + world.slackMs / periodMs, `${count} probes instead of ${expected}`);
}

function requestedWithBackoff(stage: Stage): void {
  const events = stage.events('Container Restart Requested');
  assert.deepEqual(
    events.map(({ detail }) => detail.attempt),
    [1, 2, 3],
  );
  const secondsOf = (index: number) => Date.parse(events[index]?.time ?? '') / 1_000;
  const lateMax = roundedSeconds + stage.world.slackMs / 1_000;
  for (const [index, pauseSeconds] of pausesSeconds.entries()) {
    const late = secondsOf(index + 1) - secondsOf(index) - pauseSeconds;
    assert.ok(late >= -roundedSeconds && late <= lateMax, `request ${index + 2} came ${late} s late`);
  }
}

type Recovery = { readonly containerID: string; readonly attempts: number };

async function recoveredOnce(stage: Stage, recovery: Recovery): Promise<void> {
  const events = () => stage.events('Container Recovered').map(({ detail }) => detail);
  await stage.until('recovered', periodMs, () => events().length > 0);
  await stage.during('ready', 2 * periodMs, isNotFailing);
  assert.deepEqual(
    events().map((detail) => ({ containerID: detail.containerID, attempts: detail.attempts })),
    [recovery],
  );
  assert.equal(requestsOf(stage).length, recovery.attempts);
}

const oftenSeconds = 1;
const failureThreshold = 3;
const failsMs = 15_000;

async function startsLate(place: Place, stage: Stage): Promise<void> {
  let isUp = false;
  const app = await stage.use(httpApp(stage.world, () => (isUp ? ok : broken)));
  const probe = (path: string) => ({ httpGet: { path, port: app.port }, periodSeconds: oftenSeconds });
  const probes = { startupProbe: { ...probe('/started'), failureThreshold }, livenessProbe: probe('/live') };
  await stage.register(place, probes, isStatic);
  await stage.until('requested', 10_000, () => requestsOf(stage).length > 0);
  await stage.during('not started, never restarted', failsMs, (view) => !isStarted(view) && neverRestarted(view));
  assert.ok(app.requests.length > failsMs / 1_000 / 2, 'probing has paused');
  assert.ok(app.requests.every(({ path }) => path === '/started'));
  isUp = true;
  const view = await stage.until('started', 2 * oftenSeconds * 1_000, isStarted);
  assert.equal(requestsOf(stage)[0]?.probeType, 'startup');
  assert.ok(neverRestarted(view));
  await recoveredOnce(stage, { containerID: containerID(view), attempts: requestsOf(stage).length });
}

const initialDelaySeconds = 10;
const initialDelayMs = initialDelaySeconds * 1_000;
const startMs = 5_000;

async function restartReported(place: Place, stage: Stage): Promise<void> {
  let isStuck = false;
  const reply = ({ path, runningMs }: AppState) => ((path === '/live' ? !isStuck : runningMs > startMs) ? ok : broken);
  const app = await stage.use(httpApp(stage.world, reply));
  const probe = (path: string) => ({ httpGet: { path, port: app.port }, periodSeconds: oftenSeconds });
  const livenessProbe = { ...probe('/live'), initialDelaySeconds, failureThreshold: 1 };
  await stage.register(
    place,
    { startupProbe: { ...probe('/started'), failureThreshold: 60 }, livenessProbe },
    isStatic,
  );
  const first = await stage.until('live', 2 * initialDelayMs, (view) => isLive(view));
  isStuck = true;
  await stage.until('requested', 2 * oftenSeconds * 1_000, () => requestsOf(stage).length > 0);
  app.restart();
  const restartedAtMs = stage.world.clock.monotonicMs();
  await stage.reportRestart(containerID(first));
  // Not before: on a slow machine the old container would recover by itself.
  isStuck = false;
  const second = await stage.until('another container, not started', startMs, (view) => restartCount(view) === 1);
  assert.notEqual(containerID(second), containerID(first));
  assert.ok(!isStarted(second) && !isReady(second));
  const third = await stage.until('live again', 2 * initialDelayMs, (view) => isStarted(view) && isLive(view));
  gateWasClosed(
    app.requests.filter(({ atMs }) => atMs >= restartedAtMs),
    restartedAtMs,
  );
  await stage.reportRestart(containerID(first));
  await recoveredOnce(stage, { containerID: containerID(third), attempts: 1 });
  assert.equal(restartCount(await stage.get()), 1, 'a repeated report has counted');
}

const isLive: Expectation = ({ status }) =>
  status.probes.some(({ probeType, result }) => probeType === 'liveness' && result === 'success');

/** The probes of the new container: of startup first, and of liveness once its initial delay has passed. */
function gateWasClosed(requests: App['requests'], restartedAtMs: number): void {
  const began = requests.findIndex(({ path }) => path === '/started');
  const [startup] = requests.slice(began);
  assert.ok(startup && startup.atMs < restartedAtMs + initialDelayMs);
  const live = requests.slice(began).find(({ path }) => path === '/live');
  const delayMs = (live?.atMs ?? Number.NaN) - restartedAtMs;
  assert.ok(delayMs >= initialDelayMs, `liveness was probed ${delayMs} ms after the restart`);
}
