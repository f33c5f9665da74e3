/**
 * Lifecycle `static`: no runtime reports on the containers, and probelet does not play one. A container runs from its registration on,
 * until a restart is reported: then its next incarnation runs, under a containerID of its own (difference 9).
 */
import { ownOf } from './own.ts';
import type { Incarnation, TargetRecord } from './records.ts';
import { containerShouldRestart } from './restart-policy.ts';
import { type PlacedContainer, placedContainers, type TargetSpec } from './spec.ts';
import type { ContainerState, ContainerStatus } from './types.ts';

/** What kubelet records for a container that it kills: SIGKILL's 128 + 9. The restart policy is asked about this code. */
const killedExitCode = 137;

export type Incarnations = NonNullable<TargetRecord['incarnations']>;

/** `generation`: of a target that exists already; absent at its registration. */
type Joining = { readonly nowMs: number; readonly generation?: number };

/** Every container of the spec has an incarnation. What has joined the spec runs from now on; what has left it is dropped. */
export function incarnationsOf(
  spec: Pick<TargetSpec, 'containers' | 'initContainers'>,
  before: Incarnations,
  { nowMs, generation }: Joining,
): Incarnations {
  const names = placedContainers(spec).map((container) => container.spec.name);
  const joined = {
    restartCount: 0,
    startedAtMs: nowMs,
    ...(generation !== undefined && { joinedGeneration: generation }),
  };
  return Object.fromEntries(names.map((name) => [name, ownOf(before, name) ?? joined]));
}

/** The container's present incarnation; a target that was stored without any has run since it was registered. */
export const incarnationOf = (
  { incarnations = {}, creationTimestampMs }: Pick<TargetRecord, 'incarnations' | 'creationTimestampMs'>,
  container: string,
): Incarnation => ownOf(incarnations, container) ?? { restartCount: 0, startedAtMs: creationTimestampMs };

/** No two incarnations of a container have the same, even when it leaves the spec in between and its restarts count from 0 again. */
export const staticContainerID = (
  uid: string,
  container: string,
  { restartCount, joinedGeneration }: Incarnation,
): string => {
  const joined = joinedGeneration === undefined ? '' : `${joinedGeneration}.`;
  return `probelet://${uid}/${container}/${joined}${restartCount}`;
};

/** A restart of this container was reported at `nowMs`. */
export const restarted = (before: Incarnation, nowMs: number): Incarnation => ({
  ...before,
  restartCount: before.restartCount + 1,
  startedAtMs: nowMs,
});

/** Whether a failed liveness or startup probe asks for a restart: a sidecar always, others by their policy. */
export const isToBeRestarted = ({ restartPolicy }: Pick<TargetSpec, 'restartPolicy'>, container: PlacedContainer) =>
  container.kind === 'restartableInit' || containerShouldRestart(container.spec, restartPolicy, killedExitCode);

/** The status entry of a container before its probes are considered: `ready` and `started` are UpdatePodStatus' to set. */
export function staticContainerStatus(target: TargetRecord, { kind, spec }: PlacedContainer): ContainerStatus {
  const incarnation = incarnationOf(target, spec.name);
  const { restartCount, startedAtMs } = incarnation;
  // No runtime runs an ordinary init container: it counts as done.
  const state: ContainerState =
    kind === 'init'
      ? { kind: 'terminated', exitCode: 0, reason: 'Completed', finishedAtMs: startedAtMs }
      : { kind: 'running', startedAtMs };
  const containerID = staticContainerID(target.uid, spec.name, incarnation);
  return { name: spec.name, containerID, state, ready: false, started: null, restartCount };
}
