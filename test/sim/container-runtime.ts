/**
 * Runs the containers of a `reported` target: starts them, repeats each report until it is accepted, restarts them on
 * request, and sometimes ends one. A new container may first be reported as waiting or terminated.
 */
import type { BusEvent } from '../../shared/bus/events.ts';
import type { Chance } from './chance.ts';
import type { Client } from './client.ts';
import { type Scheduler, worldStartMs } from './clock.ts';

type Container = { name: string; id: string; count: number; startedAtMs: number | undefined; isWaiting: boolean };

export type ContainerRuntime = {
  /** What the bus brings. */
  hear(event: BusEvent): void;
  stop(): void;
};

export type RuntimePorts = { readonly scheduler: Scheduler; readonly chance: Chance; readonly client: Client };

const meanLifeMs = 2 * 3_600_000;
/** How a new container is first reported, each as often as it stands here. */
const firstStates = ['running', 'running', 'waiting', 'waiting', 'terminated'] as const;

/** `incarnation`: of the target, whose uid only clients of the API know. */
export function containerRuntime(
  { scheduler, chance, client }: RuntimePorts,
  target: {
    readonly namespace: string;
    readonly name: string;
    readonly incarnation: number;
    readonly containers: readonly string[];
  },
): ContainerRuntime {
  const path = `/v1/namespaces/${target.namespace}/targets/${target.name}/status`;
  let stopped = false;
  let version = 0;
  let reporting = false;

  const idOf = (name: string, count: number) => `sim://${target.name}-${target.incarnation}-${name}-${count}`;
  const containers = target.containers.map(
    (name): Container => ({ name, id: '', count: -1, startedAtMs: undefined, isWaiting: false }),
  );

  const report = async (): Promise<void> => {
    version += 1;
    if (reporting) return;
    reporting = true;
    for (let reported = -1; reported !== version && !stopped; ) {
      reported = version;
      const answer = await client.insist({ method: 'PUT', path, body: statusOf(containers) }, () => stopped);
      // Not registered yet, or terminating: it is tried again, as the answer is the same.
      if (answer && answer.status >= 400) await client.sleep(5_000);
      if (answer && answer.status >= 400) reported = -1;
    }
    reporting = false;
  };

  const start = (container: Container) => {
    if (stopped || container.startedAtMs !== undefined) return;
    container.count += 1;
    container.id = idOf(container.name, container.count);
    const { id } = container;
    const first = chance.pick(firstStates);
    container.isWaiting = first === 'waiting';
    if (first !== 'running') void report();
    if (first === 'terminated') startAgain(container);
    else if (first === 'running') run(container, id);
    else scheduler.after(chance.between(500, 8_000), { label: `${id} runs`, deliver: () => run(container, id) });
  };

  const run = (container: Container, id: string) => {
    if (stopped || container.id !== id) return;
    container.isWaiting = false;
    container.startedAtMs = worldStartMs + scheduler.nowMs();
    void report();
    scheduler.after(chance.wait(meanLifeMs), { label: `${id} ends`, deliver: () => end(container, id) });
  };

  const end = (container: Container, id: string) => {
    if (stopped || container.id !== id || container.startedAtMs === undefined) return;
    container.startedAtMs = undefined;
    if (chance.happens(0.5)) void report();
    startAgain(container);
  };

  const startAgain = (container: Container): void => {
    const label = `${container.name} starts again`;
    scheduler.after(chance.between(200, 8_000), { label, deliver: () => start(container) });
  };

  for (const container of containers)
    scheduler.after(chance.between(0, 5_000), { label: 'container starts', deliver: () => start(container) });
  return {
    hear({ detailType, detail }) {
      if (detailType !== 'Container Restart Requested') return;
      const container = containers.find(({ id }) => id === detail.containerID);
      if (container)
        scheduler.after(chance.between(50, 3_000), {
          label: 'restart obeyed',
          deliver: () => end(container, detail.containerID),
        });
    },
    stop() {
      stopped = true;
    },
  };
}

function statusOf(containers: readonly Container[]) {
  return {
    status: {
      containerStatuses: containers
        .filter(({ id }) => id !== '')
        .map((container) => ({
          name: container.name,
          containerID: container.id,
          restartCount: container.count,
          state: stateOf(container),
        })),
    },
  };
}

function stateOf({ startedAtMs, isWaiting }: Container) {
  if (startedAtMs !== undefined) return { running: { startedAt: new Date(startedAtMs).toISOString() } };
  if (isWaiting) return { waiting: { reason: 'ContainerCreating' } };
  return { terminated: { exitCode: 1, reason: 'Error' } };
}
