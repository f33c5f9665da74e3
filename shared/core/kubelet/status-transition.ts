/** Which containers may not leave their terminated state (pkg/kubelet/status: checkContainerStateTransition). */

import type { ContainerSpec, TargetSpec } from '../spec/spec.ts';
import { allContainersCouldRestart, containerShouldRestart, isRestartableInit } from './restart-policy.ts';
import type { ContainerStatus, PodStatus } from './types.ts';

type RestartSpec = Pick<TargetSpec, 'restartPolicy' | 'containers' | 'initContainers'>;

export type Refusal = {
  /** `InitContainersMismatch`: the old init statuses are not those of the spec, so no transition can be judged. */
  readonly reason: 'TerminatedContainerRestarted' | 'InitContainersMismatch';
  readonly container: string;
};

/** Undefined: every container of `old` may change to its state in `next`. */
export function refusedTransition(spec: RestartSpec, old: PodStatus, next: PodStatus): Refusal | undefined {
  if (spec.restartPolicy === 'Always' || allContainersCouldRestart(spec)) return undefined;
  const regular = old.containerStatuses.find((status) => {
    const container = spec.containers.find((candidate) => candidate.name === status.name);
    return mustStayTerminated(spec, container, status) && leavesTerminated(status, next.containerStatuses);
  });
  if (regular) return { reason: 'TerminatedContainerRestarted', container: regular.name };
  return refusedInitTransition(spec, old.initContainerStatuses, next.initContainerStatuses);
}

function refusedInitTransition(
  spec: RestartSpec,
  old: readonly ContainerStatus[],
  next: readonly ContainerStatus[],
): Refusal | undefined {
  for (const [index, status] of old.entries()) {
    const container = spec.initContainers[index];
    if (container?.name !== status.name) return { reason: 'InitContainersMismatch', container: status.name };
    if (isRestartableInit(container)) continue;
    if (mustStayTerminated(spec, container, status) && leavesTerminated(status, next)) {
      return { reason: 'TerminatedContainerRestarted', container: status.name };
    }
  }
  return undefined;
}

/** A container that has left the spec is judged by the pod's policy alone. */
function mustStayTerminated(spec: RestartSpec, container: ContainerSpec | undefined, status: ContainerStatus): boolean {
  if (status.state?.kind !== 'terminated') return false;
  const { exitCode } = status.state;
  // The pod's policy permits even what the container's own forbids.
  if (exitCode !== 0 && spec.restartPolicy === 'OnFailure') return false;
  return !container || !containerShouldRestart(container, spec.restartPolicy, exitCode);
}

const leavesTerminated = (old: ContainerStatus, next: readonly ContainerStatus[]): boolean =>
  next.some((status) => status.name === old.name && status.state?.kind !== 'terminated');
