/**
 * What the status vectors share: pods, statuses and conditions, whose times are seconds and whose absent fields are
 * empty.
 */

import type { ContainerSpec, TargetSpec } from '../../shared/core/spec/spec.ts';
import type {
  Condition,
  ConditionStatus,
  ContainerState,
  ContainerStatus,
  Era,
  Phase,
  PodStatus,
  RestartPolicy,
  RestartPolicyRule,
} from '../../shared/core/spec/types.ts';
import { specOf } from '../support/pods.ts';

export type VectorContainer = {
  readonly name: string;
  readonly restartPolicy?: RestartPolicy;
  readonly restartPolicyRules?: readonly RestartPolicyRule[];
};

export type VectorPod = {
  readonly uid: string;
  readonly generation?: number;
  readonly restartPolicy?: RestartPolicy;
  readonly initContainers?: readonly VectorContainer[];
  readonly containers?: readonly VectorContainer[];
  readonly readinessGates?: readonly string[];
  readonly inPodManager?: boolean;
  readonly deletionTimestampSet?: boolean;
};

export type VectorCondition = {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: number;
  readonly observedGeneration?: number;
};

export type VectorState = {
  readonly kind: 'running' | 'waiting' | 'terminated' | 'none';
  readonly startedAt?: number;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
};

export type VectorContainerStatus = {
  readonly name: string;
  readonly containerID?: string;
  readonly state?: VectorState;
  readonly lastTerminationState?: VectorState;
  readonly ready?: boolean;
  readonly started?: boolean | null;
};

export type VectorStatus = {
  readonly phase?: Phase | '';
  readonly reason?: string;
  readonly message?: string;
  readonly startTime?: number;
  readonly conditions?: readonly VectorCondition[];
  readonly initContainerStatuses?: readonly VectorContainerStatus[];
  readonly containerStatuses?: readonly VectorContainerStatus[];
};

const container = ({ name, restartPolicy, restartPolicyRules }: VectorContainer): ContainerSpec => ({
  name,
  ...(restartPolicy && { restartPolicy }),
  ...(restartPolicyRules && { restartPolicyRules }),
});

export function spec(pod: VectorPod): TargetSpec {
  return specOf({
    ...(pod.restartPolicy && { restartPolicy: pod.restartPolicy }),
    readinessGates: (pod.readinessGates ?? []).map((conditionType) => ({ conditionType })),
    initContainers: (pod.initContainers ?? []).map(container),
    containers: (pod.containers ?? []).map(container),
  });
}

export function status(from: VectorStatus): PodStatus {
  return {
    // A pod without a report has no phase in the API server.
    phase: from.phase || 'Unknown',
    ...(from.reason && { reason: from.reason }),
    ...(from.message && { message: from.message }),
    ...(from.startTime !== undefined && { startTimeMs: from.startTime * 1000 }),
    conditions: (from.conditions ?? []).map(condition),
    initContainerStatuses: (from.initContainerStatuses ?? []).map(containerStatus),
    containerStatuses: (from.containerStatuses ?? []).map(containerStatus),
  };
}

export function condition(from: VectorCondition): Condition {
  const { lastTransitionTime, ...rest } = from;
  return { ...rest, ...(lastTransitionTime !== undefined && { lastTransitionTimeMs: lastTransitionTime * 1000 }) };
}

/** A container's status with the fields of its state beside the others. */
export type FlatStatus = Omit<VectorContainerStatus, 'state' | 'lastTerminationState'> & {
  readonly state?: VectorState['kind'];
  readonly startedAt?: number;
  readonly exitCode?: number;
};

export const flatStatus = ({ state: kind = 'none', startedAt, exitCode, ...from }: FlatStatus): ContainerStatus =>
  containerStatus({
    ...from,
    state: { kind, ...(startedAt !== undefined && { startedAt }), ...(exitCode !== undefined && { exitCode }) },
  });

export function containerStatus(from: VectorContainerStatus): ContainerStatus {
  const state = containerState(from.state);
  const lastState = containerState(from.lastTerminationState);
  return {
    name: from.name,
    containerID: from.containerID ?? '',
    ...(state && { state }),
    ...(lastState && { lastState }),
    ready: from.ready ?? false,
    started: from.started ?? null,
    restartCount: 0,
  };
}

function containerState(from: VectorState | undefined): ContainerState | undefined {
  const text = { ...(from?.reason && { reason: from.reason }), ...(from?.message && { message: from.message }) };
  switch (from?.kind) {
    case 'running':
      return { kind: 'running', startedAtMs: (from.startedAt ?? 0) * 1000 };
    case 'waiting':
      return { kind: 'waiting', ...text };
    case 'terminated':
      return {
        kind: 'terminated',
        exitCode: from.exitCode ?? 0,
        ...text,
        ...(from.startedAt !== undefined && { startedAtMs: from.startedAt * 1000 }),
      };
    case 'none':
    case undefined:
      return undefined;
  }
}

/** When the kubelet started, and how it treats the containers that ran before. */
export type VectorEra = {
  readonly gates?: { readonly ChangeContainerStatusOnKubeletRestart?: boolean };
  readonly kubeletStart?: number;
};

export const era = ({ gates, kubeletStart = 0 }: VectorEra): Era => ({
  changeContainerStatusOnKubeletRestart: gates?.ChangeContainerStatusOnKubeletRestart ?? false,
  kubeletStartMs: kubeletStart * 1000,
});

/** Absent and empty are the same to a vector: both sides of a comparison go through this. */
export function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined && field !== '');
  return Object.fromEntries(entries.map(([key, field]) => [key, withoutEmpty(field)]));
}
