/**
 * The normal form of a status, without what must not count as a difference, for comparing statuses (kubelet's
 * normalizeStatus).
 */
import type { ContainerSpec, TargetSpec } from '../spec/spec.ts';
import type { Condition, ContainerState, ContainerStatus, PodStatus } from './types.ts';

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
