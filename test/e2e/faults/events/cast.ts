/** Targets to which everything happens of which events tell, and what has to be shown of each of them in the end. */
import type { TargetView } from '../../../../shared/api/target-schema.ts';
import { isReady, register, targetPath } from '../listed.ts';
import type { Stage } from './stage.ts';

/** As seen in the API; undefined: the target is gone. */
export type Truth = (view: TargetView | undefined) => boolean;

/** How something happens to a target, and when it is right. */
export type Actor = {
  readonly name: string;
  /** Before events are lost. */
  readonly enter: () => Promise<void>;
  /** While events are lost. */
  readonly act: () => Promise<void> | void;
  readonly truth: Truth;
};

const periodSeconds = 5;
const failureThreshold = 1;
const pathOf = (name: string) => `/${name}`;

function probeOf({ port }: Stage, path: string) {
  return { httpGet: { path, port }, periodSeconds, failureThreshold };
}

const host = '127.0.0.1';
const is =
  (test: (view: TargetView) => boolean): Truth =>
  (view) =>
    view !== undefined && test(view);

/** Is well and not in turns; in the end what chance made it. */
export function flipping(stage: Stage, name: string): Actor {
  let well = true;
  return {
    name,
    enter: () => register(stage.api, name, { host, readinessProbe: probeOf(stage, pathOf(name)) }),
    act() {
      well = !well;
      stage.tell(well ? { mend: [pathOf(name)] } : { break: [pathOf(name)] });
    },
    truth: is((view) => isReady(view) === well),
  };
}

/** Lifecycle `static`: fails its liveness probe until a subscriber has restarted its container and reported that. */
export function failing(stage: Stage, name: string): Actor {
  return {
    ...enteringStatic(stage, name),
    truth: is(({ status }) => {
      const [container] = status.containerStatuses;
      return container?.restartCount === 1 && container.ready && container.state.running !== undefined;
    }),
  };
}

/** The same, but it recovers without a restart. */
export function recovering(stage: Stage, name: string): Actor {
  return {
    ...enteringStatic(stage, name),
    truth: is(({ status }) => {
      const [container] = status.containerStatuses;
      return container?.restartCount === 0 && container.ready;
    }),
  };
}

function enteringStatic(stage: Stage, name: string): Omit<Actor, 'truth'> {
  const livenessProbe = probeOf(stage, pathOf(name));
  return {
    name,
    enter: () => register(stage.api, name, { host, containers: [{ name: 'main', livenessProbe }] }),
    act: () => stage.tell({ break: [pathOf(name)] }),
  };
}

/** Reports a restart of that container; a repetition does nothing. */
export async function reportRestart({ api }: Stage, name: string, containerID: string): Promise<void> {
  const { status } = await api('POST', `${targetPath(name)}/restarted`, { containerID });
  if (status !== 200) throw new Error(`POST ${name}/restarted: ${status}`);
}

export const reportedID = (name: string, restarts: number): string => `test://${name}/${restarts}`;

/** Somebody else runs its container, and says so. */
export async function report({ api }: Stage, name: string, restarts: number): Promise<void> {
  const running = {
    name: 'main',
    containerID: reportedID(name, restarts),
    state: { running: { startedAt: new Date().toISOString() } },
    restartCount: restarts,
  };
  const body = { status: { phase: 'Running', containerStatuses: [running] } };
  const { status } = await api('PUT', `${targetPath(name)}/status`, body);
  if (status !== 200) throw new Error(`PUT ${name}/status: ${status}`);
}

/** The same, but its containers are run by somebody who waits for the request. */
export function reported(stage: Stage, name: string): Actor {
  const livenessProbe = probeOf(stage, pathOf(name));
  return {
    name,
    async enter() {
      const containers = [{ name: 'main', livenessProbe }];
      await register(stage.api, name, { host, lifecycle: 'reported', containers });
      await report(stage, name, 0);
    },
    act: () => stage.tell({ break: [pathOf(name)] }),
    truth: is(({ status }) => {
      const [container] = status.containerStatuses;
      return container?.containerID === reportedID(name, 1) && container.ready;
    }),
  };
}

export function registeredLate(stage: Stage, name: string): Actor {
  return {
    name,
    enter: async () => undefined,
    act: () => register(stage.api, name, { host, readinessProbe: probeOf(stage, pathOf(name)) }),
    truth: is(isReady),
  };
}

const graceSeconds = 3;

export function leaving(stage: Stage, name: string): Actor {
  return {
    name,
    enter: () => register(stage.api, name, { host, readinessProbe: probeOf(stage, pathOf(name)) }),
    async act() {
      await stage.api('DELETE', `${targetPath(name)}?gracePeriodSeconds=${graceSeconds}`);
    },
    truth: (view) => view === undefined,
  };
}

/** Its probe is pointed to where it is answered well. */
export function respecified(stage: Stage, name: string): Actor {
  const broken = `${pathOf(name)}/broken`;
  const as = (path: string) => register(stage.api, name, { host, readinessProbe: probeOf(stage, path) });
  return {
    name,
    async enter() {
      stage.tell({ break: [broken] });
      await as(broken);
    },
    act: () => as(pathOf(name)),
    truth: is(isReady),
  };
}
