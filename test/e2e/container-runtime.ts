/**
 * A container runtime for targets with lifecycle `reported`: it runs their containers, restarts them on request with
 * kubelet's crash-loop back-off, and reports each state as a kubelet does.
 */
import assert from 'node:assert/strict';
import type { World, WorldEvent } from './world.ts';

/** kubelet's crash-loop back-off (pkg/kubelet/kubelet.go). The first restart does not wait. */
const backoffFirstMs = 10_000;
const backoffMaxMs = 300_000;
/** A container that ran for longer than this begins with the first back-off again. */
const forgottenAfterMs = 2 * backoffMaxMs;
/** SIGKILL: 128 + 9. */
const killedExitCode = 137;

type Run = { readonly startedAtMs: number; readonly finishedAtMs: number };

type Container = {
  readonly name: string;
  readonly isInit: boolean;
  readonly restartCount: number;
  readonly startedAtMs: number;
  /** false: it waits for its back-off. */
  readonly isRunning: boolean;
  readonly lastRun?: Run;
  /** Before the next restart; undefined: that does not wait. */
  readonly backoffMs?: number;
};

/** Containers by name; `target`: the path of the target in the API. */
export type Containers = {
  readonly target: string;
  readonly containers: readonly string[];
  readonly initContainers?: readonly string[];
  /** Called as the next container starts. */
  readonly onRestart?: () => void;
};

export type ContainerRuntime = {
  /** Fails if a report was refused. */
  close(): Promise<void>;
};

/** Reports all containers as running and from then on restarts what it is asked to. The target has to be registered. */
export async function runContainers(world: World, given: Containers): Promise<ContainerRuntime> {
  const { target, containers: names, initContainers = [], onRestart = () => undefined } = given;
  const containers = new Map<string, Container>();
  const timers: (() => void)[] = [];
  let reports: Promise<void> = Promise.resolve();
  let isStopped = false;

  const report = (): Promise<void> => {
    reports = reports.then(() => (isStopped ? undefined : put(world, target, [...containers.values()])));
    return reports;
  };
  const set = (container: Container) => {
    containers.set(container.name, container);
    // A refused report shows as the runtime is closed.
    report().catch(() => undefined);
  };
  const start = (container: Container) => {
    const { restartCount } = container;
    set({ ...container, restartCount: restartCount + 1, startedAtMs: world.clock.nowMs(), isRunning: true });
    onRestart();
  };
  const end = (container: Container) => {
    const { ended, waitMs } = afterEnd(container, world.clock.nowMs());
    if (waitMs === 0) return start(ended);
    set(ended);
    timers.push(world.clock.setTimer(waitMs, () => start(ended)));
  };

  const unsubscribe = world.subscribe((event) => {
    const requested = requestFor(target, event);
    const container = requested && containers.get(requested.container);
    if (!container || requested.containerID !== idOf(target, container)) return;
    if (container.isRunning) end(container);
  });
  const begun = { restartCount: 0, startedAtMs: world.clock.nowMs(), isRunning: true };
  for (const name of initContainers) containers.set(name, { ...begun, name, isInit: true });
  for (const name of names) containers.set(name, { ...begun, name, isInit: false });
  await report();
  return {
    async close() {
      isStopped = true;
      unsubscribe();
      for (const cancel of timers) cancel();
      await reports;
    },
  };
}

/** The container that has ended, with the back-off of the restart after this one, and how long this one waits. */
function afterEnd(container: Container, finishedAtMs: number): { readonly ended: Container; readonly waitMs: number } {
  const { startedAtMs, backoffMs } = container;
  const isForgotten = finishedAtMs - startedAtMs > forgottenAfterMs;
  const waitMs = isForgotten || backoffMs === undefined ? 0 : backoffMs;
  const nextMs = waitMs === 0 ? backoffFirstMs : Math.min(backoffMaxMs, 2 * waitMs);
  return {
    ended: { ...container, isRunning: false, lastRun: { startedAtMs, finishedAtMs }, backoffMs: nextMs },
    waitMs,
  };
}

function requestFor(target: string, event: WorldEvent) {
  if (event['detail-type'] !== 'Container Restart Requested') return undefined;
  const { namespace, name } = event.detail.target;
  return target === `/v1/namespaces/${namespace}/targets/${name}` ? event.detail : undefined;
}

/** The target may have been purged meanwhile. */
const takenOrGone: readonly number[] = [200, 404];

async function put(world: World, target: string, containers: readonly Container[]): Promise<void> {
  const statusesOf = (isInit: boolean) =>
    containers.filter((container) => container.isInit === isInit).map((container) => statusOf(target, container));
  const body = { status: { initContainerStatuses: statusesOf(true), containerStatuses: statusesOf(false) } };
  const answer = await world.api('PUT', `${target}/status`, body);
  assert.ok(takenOrGone.includes(answer.status), JSON.stringify(answer.body));
}

function statusOf(target: string, container: Container) {
  const { name, restartCount, startedAtMs, isRunning, lastRun } = container;
  return {
    name,
    restartCount,
    containerID: idOf(target, container),
    state: isRunning ? { running: { startedAt: timeOf(startedAtMs) } } : { waiting: { reason: 'CrashLoopBackOff' } },
    ...(lastRun && { lastState: { terminated: killed(lastRun) } }),
  };
}

const killed = ({ startedAtMs, finishedAtMs }: Run) => ({
  exitCode: killedExitCode,
  reason: 'Error',
  startedAt: timeOf(startedAtMs),
  finishedAt: timeOf(finishedAtMs),
});

const timeOf = (ms: number): string => new Date(ms).toISOString();

const idOf = (target: string, { name, restartCount }: Pick<Container, 'name' | 'restartCount'>): string =>
  `test://${target.split('/').at(-1)}/${name}/${restartCount}`;
