/** The one step through which every change of a pod's status goes (pkg/kubelet/status: updateStatusInternal), and what asks for it. */
import { isTimed } from './condition-owners.ts';
import { type ConditionsInput, containersReadyCondition, podReadyCondition } from './conditions.ts';
import { parseContainerID } from './container-id.ts';
import type { TargetSpec } from './spec.ts';
import { samePodStatus } from './status-equality.ts';
import { normalStatus } from './status-normal-form.ts';
import { type Refusal, refusedTransition } from './status-transition.ts';
import type { Condition, ContainerStatus, PodStatus } from './types.ts';

export type StatusUpdate = {
  readonly spec: Pick<TargetSpec, 'restartPolicy' | 'containers' | 'initContainers'>;
  /** The status so far, in normal form. */
  readonly old: PodStatus;
  readonly next: PodStatus;
  /** Also a status that equals the old one is a change. */
  readonly forced?: boolean;
  readonly nowMs: number;
};

export type StatusStep =
  | ({ readonly kind: 'refused' } & Refusal)
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly status: PodStatus };

/**
 * Refuses a terminated container that runs again against its policy; keeps `lastTransitionTime` where a condition's status is the same
 * and `startTime` for ever; brings the status to normal form.
 */
export function nextStatus({ spec, old, next, forced = false, nowMs }: StatusUpdate): StatusStep {
  const refusal = refusedTransition(spec, old, next);
  if (refusal) return { kind: 'refused', ...refusal };
  const status = normalStatus(spec, {
    ...next,
    startTimeMs: old.startTimeMs ?? next.startTimeMs ?? nowMs,
    conditions: next.conditions.map((condition) =>
      isTimed(condition.type) ? withTransitionTime(condition, old.conditions, nowMs) : condition,
    ),
  });
  return !forced && samePodStatus(old, status) ? { kind: 'unchanged' } : { kind: 'changed', status };
}

/** The time of the old condition of that type if its status is the same, else now. */
export function withTransitionTime(condition: Condition, old: readonly Condition[], nowMs: number): Condition {
  const before = old.find((candidate) => candidate.type === condition.type);
  const { lastTransitionTimeMs: _, ...rest } = condition;
  if (before?.status !== condition.status) return { ...rest, lastTransitionTimeMs: nowMs };
  const { lastTransitionTimeMs } = before;
  return lastTransitionTimeMs === undefined ? rest : { ...rest, lastTransitionTimeMs };
}

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
