/**
 * The single function that every change of a pod's status passes through (pkg/kubelet/status: updateStatusInternal).
 */

import { sameValue } from '../../lib/equality.ts';
import type { ContainerSpec, TargetSpec } from '../spec/spec.ts';
import type { Condition, ContainerState, ContainerStatus, PodStatus } from '../spec/types.ts';
import { isCompared, isTimed } from './conditions.ts';
import { allContainersCouldRestart, containerShouldRestart, isRestartableInit } from './restart-policy.ts';

export type StatusUpdate = {
  readonly spec: Pick<TargetSpec, 'restartPolicy' | 'containers' | 'initContainers'>;
  /** The status so far, in normal form. */
  readonly old: PodStatus;
  readonly next: PodStatus;
  /** The containers of `next` that were reported: only these can leave a terminated state. Absent: all of them. */
  readonly reported?: ReadonlySet<string>;
  /** A status that equals the old one also counts as a change. */
  readonly forced?: boolean;
  readonly nowMs: number;
};

export type StatusStep =
  | ({ readonly kind: 'refused' } & Refusal)
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly status: PodStatus };

/**
 * Refuses a terminated container that runs again against its policy. Keeps `lastTransitionTime` of a condition whose
 * status is unchanged, and `startTime` for ever. Returns the status in normal form.
 */
export function nextStatus({ spec, old, next, reported, forced = false, nowMs }: StatusUpdate): StatusStep {
  const refusal = refusedTransition(spec, old, reported ? only(reported, next) : next);
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

const only = (names: ReadonlySet<string>, { containerStatuses, initContainerStatuses, ...status }: PodStatus) => ({
  ...status,
  containerStatuses: containerStatuses.filter(({ name }) => names.has(name)),
  initContainerStatuses: initContainerStatuses.filter(({ name }) => names.has(name)),
});

/** The time of the old condition of that type if its status is the same, else now. */
export function withTransitionTime(condition: Condition, old: readonly Condition[], nowMs: number): Condition {
  const before = old.find((candidate) => candidate.type === condition.type);
  const { lastTransitionTimeMs: _, ...rest } = condition;
  if (before?.status !== condition.status) return { ...rest, lastTransitionTimeMs: nowMs };
  const { lastTransitionTimeMs } = before;
  return lastTransitionTimeMs === undefined ? rest : { ...rest, lastTransitionTimeMs };
}

// The normal form of a status, without what must not count as a difference, for comparing statuses (kubelet's
// normalizeStatus).

type Containers = Pick<TargetSpec, 'containers' | 'initContainers'>;

/**
 * Limit of all termination messages of one pod together (pkg/kubelet/container/runtime.go:
 * MaxPodTerminationMessageLogLength).
 */
const terminationMessagesBytesMax = 12 * 1024;

/**
 * Cuts times to seconds and termination messages to their share; sorts containers by name, init containers as in the
 * spec.
 */
export function normalStatus(spec: Containers, status: PodStatus): PodStatus {
  const messageBytesMax = messageShare(spec);
  const normal = (entry: ContainerStatus): ContainerStatus => normalContainer(entry, messageBytesMax);
  return {
    ...status,
    ...(status.startTimeMs !== undefined && { startTimeMs: wholeSeconds(status.startTimeMs) }),
    conditions: status.conditions.map(normalCondition),
    containerStatuses: status.containerStatuses.map(normal).sort(byName),
    initContainerStatuses: inSpecOrder(spec.initContainers, status.initContainerStatuses.map(normal)),
  };
}

/** The API server keeps whole seconds (RFC 3339). */
const wholeSeconds = (timeMs: number): number => Math.floor(timeMs / 1000) * 1000;

function messageShare({ containers, initContainers }: Containers): number {
  return Math.floor(terminationMessagesBytesMax / Math.max(1, containers.length + initContainers.length));
}

function normalCondition(condition: Condition): Condition {
  const { lastTransitionTimeMs } = condition;
  if (lastTransitionTimeMs === undefined) return condition;
  return { ...condition, lastTransitionTimeMs: wholeSeconds(lastTransitionTimeMs) };
}

function normalContainer(status: ContainerStatus, messageBytesMax: number): ContainerStatus {
  const { state, lastState } = status;
  return {
    ...status,
    ...(state && { state: normalState(state, messageBytesMax) }),
    ...(lastState && { lastState: normalState(lastState, messageBytesMax) }),
  };
}

function normalState(state: ContainerState, messageBytesMax: number): ContainerState {
  switch (state.kind) {
    case 'waiting':
      return state;
    case 'running':
      return { ...state, startedAtMs: wholeSeconds(state.startedAtMs) };
    case 'terminated': {
      const { startedAtMs, finishedAtMs, message } = state;
      return {
        ...state,
        ...(startedAtMs !== undefined && { startedAtMs: wholeSeconds(startedAtMs) }),
        ...(finishedAtMs !== undefined && { finishedAtMs: wholeSeconds(finishedAtMs) }),
        ...(message !== undefined && { message: cut(message, messageBytesMax) }),
      };
    }
  }
}

/** At most this many bytes of UTF-8, without a partial character. */
function cut(text: string, bytesMax: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  // With `stream` the decoder holds back a partial character at the end.
  return new TextDecoder().decode(bytes.subarray(0, bytesMax), { stream: true });
}

const byName = (a: ContainerStatus, b: ContainerStatus): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Statuses without a container in the spec come last. */
function inSpecOrder(containers: readonly ContainerSpec[], statuses: readonly ContainerStatus[]): ContainerStatus[] {
  const order = [...statuses];
  let current = 0;
  for (const container of containers) {
    const found = order.findIndex((status, index) => index >= current && status.name === container.name);
    const [here, there] = [order[current], order[found]];
    if (!here || !there) continue;
    order[current] = there;
    order[found] = here;
    current += 1;
  }
  return order;
}

// Which containers may not leave their terminated state (pkg/kubelet/status: checkContainerStateTransition).

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

// When two statuses are the same to kubelet (pkg/kubelet/status: isPodStatusByKubeletEqual).

/** Compares only kubelet's own conditions, without their times and generation. Both statuses must be in normal form. */
export function samePodStatus(a: PodStatus, b: PodStatus): boolean {
  const { conditions: conditionsOfA, ...restOfA } = a;
  const { conditions: conditionsOfB, ...restOfB } = b;
  return sameConditions(conditionsOfA, conditionsOfB) && sameValue(restOfA, restOfB);
}

function sameConditions(a: readonly Condition[], b: readonly Condition[]): boolean {
  const byTypeOfA = comparedByType(a);
  const byTypeOfB = comparedByType(b);
  if (byTypeOfA.size !== byTypeOfB.size) return false;
  return [...byTypeOfB].every(([type, condition]) => {
    const other = byTypeOfA.get(type);
    return other !== undefined && sameVerdict(other, condition);
  });
}

const comparedByType = (conditions: readonly Condition[]): ReadonlyMap<string, Condition> =>
  new Map(conditions.filter(({ type }) => isCompared(type)).map((condition) => [condition.type, condition]));

const sameVerdict = (a: Condition, b: Condition): boolean =>
  a.status === b.status && a.reason === b.reason && a.message === b.message;
