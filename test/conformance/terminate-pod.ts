/** The status of a pod that has ended: nothing of it runs any more, whatever was last known (pkg/kubelet/status: TerminatePod). */
import { isRestartableInit } from '../../shared/core/restart-policy.ts';
import type { TargetSpec } from '../../shared/core/spec.ts';
import type { ContainerState, ContainerStatus, PodStatus } from '../../shared/core/types.ts';

type InitSpec = Pick<TargetSpec, 'initContainers'>;

/** SIGKILL's 128 + 9: nobody knows how the container ended, and an unknown end must not look like a success. */
const lost: ContainerState = {
  kind: 'terminated',
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
};

/**
 * @param observed the status as the pod itself carries it; it tells whether the pod was ever initialized.
 * @param status the last known one, the cached one if there is one. Its conditions and `ready` stay as they are.
 */
export function terminatedStatus(spec: InitSpec, observed: PodStatus, status: PodStatus): PodStatus {
  const begun = attemptedCount(status.initContainerStatuses);
  const terminal = status.phase === 'Succeeded' || status.phase === 'Failed';
  return {
    ...status,
    phase: terminal ? status.phase : 'Failed',
    // Regular containers that were never to start keep waiting: the init container's failure says it all.
    containerStatuses: wasInitialized(spec, observed) ? status.containerStatuses.map(ended) : status.containerStatuses,
    initContainerStatuses: status.initContainerStatuses.map((entry, index) => (index < begun ? ended(entry) : entry)),
  };
}

const ended = (status: ContainerStatus): ContainerStatus =>
  status.state?.kind === 'terminated' ? status : { ...status, state: lost };

/** There is evidence that a regular container could start. */
function wasInitialized({ initContainers }: InitSpec, observed: PodStatus): boolean {
  if (initContainers.length === 0 || observed.containerStatuses.some(everLeftWaiting)) return true;
  const last = observed.initContainerStatuses.at(-1);
  const container = initContainers[observed.initContainerStatuses.length - 1];
  if (!last || container?.name !== last.name) return false;
  if (isRestartableInit(container)) return last.state?.kind === 'running' && last.started === true;
  return [last.lastState, last.state].some((state) => state?.kind === 'terminated' && state.exitCode === 0);
}

/** No state at all counts as having left it: kubelet asks only whether the container waits. */
const everLeftWaiting = (status: ContainerStatus): boolean =>
  status.lastState?.kind === 'terminated' || status.state?.kind !== 'waiting';

/** Init containers up to the last one that ever began; the first in any case. */
const attemptedCount = (statuses: readonly ContainerStatus[]): number =>
  Math.max(1, statuses.findLastIndex(everLeftWaiting) + 1);
