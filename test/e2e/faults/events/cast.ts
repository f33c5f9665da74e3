/** Targets that undergo everything that events report, and what the API has to show of each in the end. */
import type { ContainerStatusView, TargetView } from '../../../../shared/api/schema/target-schema.ts';
import { answered, reportRunning } from '../../api.ts';
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

/** By the target's first container. */
const isContainer = (test: (container: ContainerStatusView) => boolean): Truth =>
  is(({ status: { containerStatuses } }) => containerStatuses.slice(0, 1).some(test));

/** Alternates between healthy and failing; the end state depends on chance. */
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
export const failing = (stage: Stage, name: string): Actor => ({
  ...enteringStatic(stage, name),
  truth: isContainer(({ restartCount, ready, state }) => restartCount === 1 && ready && state.running !== undefined),
});

/** The same, but it recovers without a restart. */
export const recovering = (stage: Stage, name: string): Actor => ({
  ...enteringStatic(stage, name),
  truth: isContainer(({ restartCount, ready }) => restartCount === 0 && ready),
});

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
  await answered(api, 200, ['POST', `${targetPath(name)}/restarted`, { containerID }]);
}

export const reportedID = (name: string, restarts: number): string => `test://${name}/${restarts}`;

/** Reports that the container of this restart count runs. */
export const report = ({ api }: Stage, name: string, restartCount: number): Promise<void> =>
  reportRunning(api, targetPath(name), { name: 'main', containerID: reportedID(name, restartCount), restartCount });

/** Lifecycle `reported`: a runtime restarts its container once a restart is requested. */
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
    truth: isContainer(({ containerID, ready }) => containerID === reportedID(name, 1) && ready),
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

/** Its probe is changed to a path that succeeds. */
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
