/** A pod's phase from its containers: kubelet's getPhase (pkg/kubelet/kubelet_pods.go). */

import type { ContainerSpec, TargetSpec } from '../spec/spec.ts';
import type { ContainerState, ContainerStatus, Phase } from '../spec/types.ts';
import { containerShouldRestart, isRestartableInit } from './restart-policy.ts';

export type PhaseInput = {
  readonly spec: Pick<TargetSpec, 'restartPolicy' | 'containers' | 'initContainers'>;
  readonly initContainerStatuses: readonly ContainerStatus[];
  readonly containerStatuses: readonly ContainerStatus[];
  /** The pod is being terminated: no container restarts any more, whatever its policy. */
  readonly terminal?: boolean;
};

/** Never `Unknown`. That a terminal phase is final is a rule of the caller, which knows the previous phase. */
export function podPhase(input: PhaseInput): Phase {
  const init = input.spec.initContainers.filter((container) => !isRestartableInit(container));
  const initFates = init.map((container) => initFate(input, container));
  if (initFates.includes('failed')) return 'Failed';
  const sidecars = input.spec.initContainers.filter(isRestartableInit);
  const fates = [
    ...sidecars.flatMap((container) => sidecarFate(input, container) ?? []),
    ...input.spec.containers.map((container) => regularFate(input, container)),
  ];
  // kubelet also says Pending while a sidecar starts and no regular container has run. A spec has at least one regular
  // container, and it is waiting then.
  if (initFates.includes('pending') || fates.includes('waiting')) return 'Pending';
  if (fates.includes('running')) return 'Running';
  return stoppedPhase(input, fates);
}

/**
 * How a container counts. `waiting`: it has not started yet, or its state is not known; kubelet counts these apart and
 * says Pending for both. `restarting`: it has stopped and its policy restarts it.
 */
type Fate = 'waiting' | 'running' | 'restarting' | 'succeeded' | 'failed';

/** The reason of a container that stopped because all are restarted: it will be started whatever its policy. */
const restartingAllContainers = 'RestartingAllContainers';

/** No container runs or is awaited. */
function stoppedPhase({ spec, terminal = false, ...statuses }: PhaseInput, fates: readonly Fate[]): Phase {
  if (fates.length === 0) return 'Pending';
  if (!terminal) {
    if (fates.includes('restarting')) return 'Running';
    return fates.includes('failed') ? 'Failed' : 'Succeeded';
  }
  const succeeded = spec.containers.every((container) => {
    const state = find(statuses.containerStatuses, container)?.state;
    return state?.kind === 'terminated' && state.exitCode === 0;
  });
  return succeeded ? 'Succeeded' : 'Failed';
}

/** A plain init container: still running or waiting, failed for good, or done. */
function initFate(
  { spec, initContainerStatuses }: PhaseInput,
  container: ContainerSpec,
): 'pending' | 'failed' | 'past' {
  const status = find(initContainerStatuses, container);
  const ended = lastEnd(status);
  if (!status || !ended) return 'pending';
  return ended.exitCode === 0 || restarts(spec, container, ended) ? 'past' : 'failed';
}

/** A sidecar that has ended is ignored: it neither holds back nor fails the pod. */
function sidecarFate({ initContainerStatuses }: PhaseInput, container: ContainerSpec): Fate | undefined {
  const status = find(initContainerStatuses, container);
  if (status?.state?.kind === 'running') return 'running';
  return lastEnd(status) ? undefined : 'waiting';
}

function regularFate({ spec, containerStatuses }: PhaseInput, container: ContainerSpec): Fate {
  const status = find(containerStatuses, container);
  if (status?.state?.kind === 'running') return 'running';
  const ended = lastEnd(status);
  if (!ended) return 'waiting';
  if (restarts(spec, container, ended)) return 'restarting';
  // A container that waits after its end counts as stopped, but never as a success.
  return status?.state?.kind === 'terminated' && ended.exitCode === 0 ? 'succeeded' : 'failed';
}

type Terminated = Extract<ContainerState, { readonly kind: 'terminated' }>;

/** How a container that does not run now has ended; undefined: it runs, never ran, or its state is not known. */
function lastEnd(status: ContainerStatus | undefined): Terminated | undefined {
  if (status?.state?.kind === 'terminated') return status.state;
  if (status?.state?.kind === 'waiting' && status.lastState?.kind === 'terminated') return status.lastState;
  return undefined;
}

function restarts(spec: PhaseInput['spec'], container: ContainerSpec, ended: Terminated): boolean {
  return (
    containerShouldRestart(container, spec.restartPolicy, ended.exitCode) || ended.reason === restartingAllContainers
  );
}

const find = (statuses: readonly ContainerStatus[], container: ContainerSpec): ContainerStatus | undefined =>
  statuses.find((status) => status.name === container.name);
