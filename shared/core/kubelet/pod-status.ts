/**
 * `started` and `ready` of every container, from its state, the results caches and the workers that exist: kubelet's
 * UpdatePodStatus (pkg/kubelet/prober/prober_manager.go).
 */
import { type ContainerSpec, type ProbeName, probeName, type TargetSpec } from '../spec/spec.ts';
import type { ContainerStatus, Era, ProbeType, Result } from '../spec/types.ts';
import { parseContainerID } from './container-id.ts';
import { isRestartableInit } from './restart-policy.ts';

export type PodStatusInput = {
  readonly spec: Pick<TargetSpec, 'containers' | 'initContainers'>;
  readonly initContainerStatuses: readonly ContainerStatus[];
  readonly containerStatuses: readonly ContainerStatus[];
  /** The workers that exist. */
  readonly workers: { readonly has: (worker: ProbeName) => boolean };
  /** The results cache of each probe type; undefined: no entry. */
  readonly cached: (probeType: ProbeType, containerID: string) => Result | undefined;
  /** The pod's previous Ready condition was True. Read only with kubelet's restart path. */
  readonly podWasReady: boolean;
  readonly era: Era;
};

export type UpdatedPodStatus = {
  /** In the order given. */
  readonly initContainerStatuses: readonly ContainerStatus[];
  readonly containerStatuses: readonly ContainerStatus[];
  /** Readiness workers that should probe at once, because a started container waits for their verdict. */
  readonly triggered: readonly ProbeName[];
};

/** kubelet lets a container that started this long before it keep its readiness. */
const kubeletRestartGraceMs = 10_000;

export function updatePodStatus(input: PodStatusInput): UpdatedPodStatus {
  const regular = input.containerStatuses.map((status) => {
    const container = input.spec.containers.find((candidate) => candidate.name === status.name);
    return probed(input, status, container);
  });
  const init = input.initContainerStatuses.map((status, index) => initContainer(input, status, index));
  return {
    initContainerStatuses: init.map((entry) => entry.status),
    containerStatuses: regular.map((entry) => entry.status),
    triggered: [...regular, ...init].flatMap((entry) => entry.trigger ?? []),
  };
}

type Entry = { readonly status: ContainerStatus; readonly trigger?: ProbeName };

/** kubelet matches init statuses to the spec by index; where the names disagree only `started` is set. */
function initContainer(input: PodStatusInput, status: ContainerStatus, index: number): Entry {
  const container = input.spec.initContainers[index];
  if (container?.name === status.name && isRestartableInit(container)) return probed(input, status, container);
  const updated = { ...status, started: isStarted(input, status) };
  const completed = status.state?.kind === 'terminated' && status.state.exitCode === 0;
  return { status: container?.name === status.name && completed ? { ...updated, ready: true } : updated };
}

/** A regular container or a sidecar, as its probes report it. While it has not started, `ready` stays as it was. */
function probed(input: PodStatusInput, status: ContainerStatus, container: ContainerSpec | undefined): Entry {
  const started = isStarted(input, status);
  if (!started) return { status: { ...status, started } };
  const result = input.cached('readiness', parseContainerID(status.containerID));
  if (result === 'success') return { status: { ...status, started, ready: true } };
  const worker = probeName(status.name, 'readiness');
  const exists = input.workers.has(worker);
  const ready = readyAfterRestart(input, status, container) ?? !exists;
  return { status: { ...status, started, ready }, ...(exists && { trigger: worker }) };
}

function isStarted({ cached, era, workers }: PodStatusInput, status: ContainerStatus): boolean {
  if (status.state?.kind !== 'running') return false;
  const result = cached('startup', parseContainerID(status.containerID));
  if (result !== undefined) return result === 'success';
  if (!era.changeContainerStatusOnKubeletRestart && status.started === true) return true;
  return !workers.has(probeName(status.name, 'startup'));
}

/**
 * A container that started long before this kubelet keeps its readiness until it has been probed, so that a restart of
 * kubelet does not make it flap. It is ready without a cached result, unless the pod was not ready. Undefined: the rule
 * does not apply.
 */
function readyAfterRestart(
  { cached, era, podWasReady }: PodStatusInput,
  status: ContainerStatus,
  container: ContainerSpec | undefined,
): boolean | undefined {
  if (era.changeContainerStatusOnKubeletRestart || !container || status.state?.kind !== 'running') return undefined;
  if (status.state.startedAtMs >= era.kubeletStartMs - kubeletRestartGraceMs) return undefined;
  if (container.readinessProbe && !podWasReady) return false;
  return cached('readiness', parseContainerID(status.containerID)) === undefined ? true : undefined;
}

// The statuses of all containers of a pod, whichever of the two lists they are in.

type Lists = {
  readonly initContainerStatuses: readonly ContainerStatus[];
  readonly containerStatuses: readonly ContainerStatus[];
};

/** Those of init containers first. */
export const statusesOf = ({ initContainerStatuses, containerStatuses }: Lists): readonly ContainerStatus[] => [
  ...initContainerStatuses,
  ...containerStatuses,
];

/** Names are unique in both lists together; undefined: there is none of that name. */
export const statusNamed = (lists: Lists, container: string): ContainerStatus | undefined =>
  statusesOf(lists).find(({ name }) => name === container);
