/**
 * Lifecycle `static`: no runtime reports the containers, and probelet does not imitate one. A container runs from its
 * registration until a restart is reported; then its next incarnation runs, with its own containerID (difference 9).
 */
import { ownProperty } from '../../lib/own-property.ts';
import type { Incarnation, TargetRecord } from '../spec/records.ts';
import { type PlacedContainer, placedContainers, type TargetSpec } from '../spec/spec.ts';
import type { ContainerState, ContainerStatus } from '../spec/types.ts';
import { containerShouldRestart } from './restart-policy.ts';

/**
 * What kubelet records for a container that it kills: SIGKILL's 128 + 9. The restart policy is evaluated for this code.
 */
const killedExitCode = 137;

export type Incarnations = NonNullable<TargetRecord['incarnations']>;

/**
 * An incarnation for every container of the spec. A container that has joined the spec runs from now on; one that has
 * left it is dropped. `generation`: of an existing target; undefined at registration.
 */
export function incarnationsOf(
  spec: Pick<TargetSpec, 'containers' | 'initContainers'>,
  before: Incarnations,
  nowMs: number,
  generation?: number,
): Incarnations {
  const names = placedContainers(spec).map((container) => container.spec.name);
  const joined = {
    restartCount: 0,
    startedAtMs: nowMs,
    ...(generation !== undefined && { joinedGeneration: generation }),
  };
  return Object.fromEntries(names.map((name) => [name, ownProperty(before, name) ?? joined]));
}

/** The container's present incarnation. A target stored without incarnations has run since it was registered. */
export const incarnationOf = (
  { incarnations = {}, creationTimestampMs }: Pick<TargetRecord, 'incarnations' | 'creationTimestampMs'>,
  container: string,
): Incarnation => ownProperty(incarnations, container) ?? { restartCount: 0, startedAtMs: creationTimestampMs };

/**
 * Unique among the incarnations of a container, even when it leaves the spec in between and its restarts count from 0
 * again.
 */
export const staticContainerID = (
  uid: string,
  container: string,
  { restartCount, joinedGeneration }: Incarnation,
): string => {
  const joined = joinedGeneration === undefined ? '' : `${joinedGeneration}.`;
  return `probelet://${uid}/${container}/${joined}${restartCount}`;
};

/** The next incarnation, after a restart reported at `nowMs`. */
export const restarted = (before: Incarnation, nowMs: number): Incarnation => ({
  ...before,
  restartCount: before.restartCount + 1,
  startedAtMs: nowMs,
});

/** Whether a failed liveness or startup probe requests a restart: always for a sidecar, by policy for others. */
export const isToBeRestarted = ({ restartPolicy }: Pick<TargetSpec, 'restartPolicy'>, container: PlacedContainer) =>
  container.kind === 'restartableInit' || containerShouldRestart(container.spec, restartPolicy, killedExitCode);

/**
 * The status entry of a container before its probes are considered: `ready` and `started` are UpdatePodStatus' to set.
 */
export function staticContainerStatus(target: TargetRecord, { kind, spec }: PlacedContainer): ContainerStatus {
  const incarnation = incarnationOf(target, spec.name);
  const { restartCount, startedAtMs } = incarnation;
  // No runtime runs an ordinary init container, so it counts as done.
  const state: ContainerState =
    kind === 'init'
      ? { kind: 'terminated', exitCode: 0, reason: 'Completed', finishedAtMs: startedAtMs }
      : { kind: 'running', startedAtMs };
  const containerID = staticContainerID(target.uid, spec.name, incarnation);
  return { name: spec.name, containerID, state, ready: false, started: null, restartCount };
}
