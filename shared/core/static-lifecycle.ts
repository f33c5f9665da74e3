/**
 * Lifecycle `static`: probelet plays the runtime of a container on which nobody reports. Its incarnations begin at once, at the first
 * restart at once again, later after kubelet's crash-loop back-off (pkg/kubelet/kubelet.go: 10 s, doubled up to 300 s, forgotten after
 * 10 minutes of running).
 */
import { goDuration } from './go-duration.ts';
import { ownOf } from './own.ts';
import type { Incarnation, TargetRecord } from './records.ts';
import { containerShouldRestart } from './restart-policy.ts';
import type { PlacedContainer } from './spec.ts';
import { placedContainers } from './spec.ts';
import type { ContainerState, ContainerStatus } from './types.ts';

export const backoffFirstMs = 10_000;
export const backoffMaxMs = 300_000;
/** A container that ran this long starts its back-off anew. */
export const backoffResetMs = 600_000;

/** What kubelet records for a container that it killed: SIGKILL's 128 + 9. */
const killedExitCode = 137;

export type Incarnations = { readonly [container: string]: Incarnation };

/** The lifecycle of one container as its spec has it. */
type Placed = { readonly target: TargetRecord; readonly container: PlacedContainer };

export function firstIncarnation(nowMs: number): Incarnation {
  return { restartCount: 0, startedAtMs: nowMs, backoffMs: 0, terminated: false };
}

/** Every container of the spec has an incarnation; those that have left the spec are dropped. */
export function withSpecContainers(target: TargetRecord, incarnations: Incarnations, nowMs: number): Incarnations {
  const names = placedContainers(target.spec).map((container) => container.spec.name);
  return Object.fromEntries(names.map((name) => [name, ownOf(incarnations, name) ?? firstIncarnation(nowMs)]));
}

/** The container failed its liveness or startup probe: it is killed, and restarted by its policy, now or after the back-off. */
export function killed(placed: Placed, incarnation: Incarnation, nowMs: number): Incarnation {
  const ended = endedState(incarnation, nowMs);
  if (!restarts(placed)) return { ...incarnation, terminated: true, lastState: ended };
  const ranMs = nowMs - incarnation.startedAtMs;
  const waitMs = ranMs >= backoffResetMs ? 0 : incarnation.backoffMs;
  const waiting: Incarnation = { ...incarnation, backoffMs: waitMs, restartAtMs: nowMs + waitMs, lastState: ended };
  return waitMs === 0 ? restarted(waiting, nowMs) : waiting;
}

/** The back-off has ended: the next incarnation, with a new containerID. */
export function restarted(incarnation: Incarnation, nowMs: number): Incarnation {
  const { restartAtMs: _, ...rest } = incarnation;
  const backoffMs = Math.min(backoffMaxMs, rest.backoffMs === 0 ? backoffFirstMs : rest.backoffMs * 2);
  return { ...rest, restartCount: rest.restartCount + 1, startedAtMs: nowMs, backoffMs };
}

/** Clocks of two processes that differ by more are wrong. */
export const clockSkewMsMax = 60_000;

/**
 * Whether the back-off is over. One that would last longer than it can was begun by a clock that was ahead: to wait for that would leave
 * the container down for as long.
 */
export const isBackoffOver = ({ restartAtMs, backoffMs }: Incarnation, nowMs: number): boolean =>
  restartAtMs !== undefined && (restartAtMs <= nowMs || restartAtMs > nowMs + backoffMs + clockSkewMsMax);

export const restarts = ({ target, container }: Placed): boolean =>
  container.kind === 'restartableInit' ||
  containerShouldRestart(container.spec, target.spec.restartPolicy, killedExitCode);

export const staticContainerID = (uid: string, container: string, restartCount: number): string =>
  `probelet://${uid}/${container}/${restartCount}`;

/** The status entry of a container before the prober has its say: `ready` and `started` are UpdatePodStatus' to set. */
export function staticContainerStatus(placed: Placed, incarnation: Incarnation): ContainerStatus {
  const { target, container } = placed;
  const { lastState, restartCount } = incarnation;
  return {
    name: container.spec.name,
    containerID: staticContainerID(target.uid, container.spec.name, restartCount),
    state: staticState(placed, incarnation),
    ...(lastState && !incarnation.terminated && { lastState }),
    ready: false,
    started: null,
    restartCount,
  };
}

function staticState({ target, container }: Placed, incarnation: Incarnation): ContainerState {
  // An ordinary init container has nobody to run it: it counts as done.
  if (container.kind === 'init') {
    return { kind: 'terminated', exitCode: 0, reason: 'Completed', finishedAtMs: incarnation.startedAtMs };
  }
  if (incarnation.terminated) return incarnation.lastState ?? endedState(incarnation, incarnation.startedAtMs);
  if (incarnation.restartAtMs === undefined) return { kind: 'running', startedAtMs: incarnation.startedAtMs };
  return {
    kind: 'waiting',
    reason: 'CrashLoopBackOff',
    message: backoffMessage(target, container.spec.name, incarnation),
  };
}

/** kubelet's text (pkg/kubelet/kuberuntime: doBackOff). */
export function backoffMessage(target: TargetRecord, container: string, incarnation: Incarnation): string {
  const pod = `${target.name}_${target.namespace}(${target.uid})`;
  return `back-off ${goDuration(incarnation.backoffMs)} restarting failed container=${container} pod=${pod}`;
}

function endedState(incarnation: Incarnation, nowMs: number): ContainerState {
  return {
    kind: 'terminated',
    exitCode: killedExitCode,
    reason: 'Error',
    startedAtMs: incarnation.startedAtMs,
    finishedAtMs: nowMs,
  };
}
