/** kubelet's SetContainerReadiness and SetContainerStartup: one container of a status changes. status-sync computes the whole status anew. */
import { type ConditionsInput, containersReadyCondition, podReadyCondition } from '../../shared/core/conditions.ts';
import { parseContainerID } from '../../shared/core/container-id.ts';
import type { Condition, ContainerStatus, PodStatus } from '../../shared/core/types.ts';

/** The condition in the place of the first of its type, or at the end. */
export function withCondition(conditions: readonly Condition[], condition: Condition): readonly Condition[] {
  const index = conditions.findIndex((candidate) => candidate.type === condition.type);
  return index < 0 ? [...conditions, condition] : conditions.with(index, condition);
}

/** One container of a status and what a results manager says of it. */
export type ContainerVerdict = { readonly containerID: string; readonly value: boolean };

/**
 * kubelet's SetContainerReadiness: `ready` of one container, Ready and ContainersReady anew. Undefined: there is no such container, or it
 * is that already. The result still has to pass `nextStatus`.
 */
export function withReadiness(
  pod: Pick<ConditionsInput, 'spec' | 'generation'>,
  status: PodStatus,
  { containerID, value }: ContainerVerdict,
): PodStatus | undefined {
  if ((statusOf(status, containerID)?.ready ?? value) === value) return undefined;
  const updated = withContainer(status, containerID, { ready: value });
  const containerStatuses = [...updated.initContainerStatuses, ...updated.containerStatuses];
  const input = { ...pod, containerStatuses, phase: status.phase };
  const ready = withCondition(status.conditions, podReadyCondition(input, status.conditions));
  return { ...updated, conditions: withCondition(ready, containersReadyCondition(input)) };
}

/** kubelet's SetContainerStartup: `started` of one container, no condition. Undefined as with readiness; null differs from false. */
export function withStartup(status: PodStatus, { containerID, value }: ContainerVerdict): PodStatus | undefined {
  const container = statusOf(status, containerID);
  if (!container || container.started === value) return undefined;
  return withContainer(status, containerID, { started: value });
}

/** Regular containers come first. A container that has no ID yet is nobody's: the empty ID reads `://`. */
function statusOf(status: PodStatus, containerID: string): ContainerStatus | undefined {
  const key = parseContainerID(containerID);
  return [...status.containerStatuses, ...status.initContainerStatuses].find(
    (container) => container.containerID === key,
  );
}

function withContainer(
  status: PodStatus,
  containerID: string,
  fields: Partial<Pick<ContainerStatus, 'ready' | 'started'>>,
): PodStatus {
  const found = statusOf(status, containerID);
  const change = (container: ContainerStatus): ContainerStatus =>
    container === found ? { ...container, ...fields } : container;
  return {
    ...status,
    containerStatuses: status.containerStatuses.map(change),
    initContainerStatuses: status.initContainerStatuses.map(change),
  };
}
