/** Short words for pods, containers and their statuses in tests. */

import type { TargetRecord } from '../../shared/core/spec/records.ts';
import type { ContainerSpec, Probe, TargetSpec } from '../../shared/core/spec/spec.ts';
import type {
  Condition,
  ConditionStatus,
  ContainerState,
  ContainerStatus,
  PodStatus,
} from '../../shared/core/spec/types.ts';

export const tcpProbe: Probe = {
  tcpSocket: { port: 80 },
  initialDelaySeconds: 0,
  periodSeconds: 10,
  timeoutSeconds: 1,
  successThreshold: 1,
  failureThreshold: 3,
};

export const specOf = (fields: Partial<TargetSpec>): TargetSpec => ({
  host: '127.0.0.1',
  restartPolicy: 'Always',
  lifecycle: 'reported',
  terminationGracePeriodSeconds: 30,
  readinessGates: [],
  initContainers: [],
  containers: [{ name: 'app' }],
  ...fields,
});

/** As it is once it has been registered. */
export const targetRecordOf = (fields: Partial<TargetRecord> = {}): TargetRecord => ({
  uid: 'u1',
  namespace: 'default',
  name: 'checkout',
  labels: {},
  annotations: {},
  generation: 1,
  resourceVersion: 1,
  creationTimestampMs: 0,
  spec: specOf({}),
  probeRequests: {},
  ...fields,
});

export const sidecar = (name: string): ContainerSpec => ({ name, restartPolicy: 'Always' });

export const running: ContainerState = { kind: 'running', startedAtMs: 0 };
export const waiting: ContainerState = { kind: 'waiting', reason: 'ContainerCreating' };
export const exited = (exitCode: number): ContainerState => ({ kind: 'terminated', exitCode });

export const containerStatusOf = (
  name: string,
  state: ContainerState | undefined,
  fields: Partial<ContainerStatus> = {},
): ContainerStatus => ({
  name,
  containerID: `test://${name}`,
  ...(state && { state }),
  ready: false,
  started: null,
  restartCount: 0,
  ...fields,
});

/** Ended, and waiting to be started again. */
export const crashed = (name: string, exitCode: number): ContainerStatus =>
  containerStatusOf(name, { kind: 'waiting', reason: 'CrashLoopBackOff' }, { lastState: exited(exitCode) });

export const podStatusOf = (fields: Partial<PodStatus>): PodStatus => ({
  phase: 'Running',
  conditions: [],
  initContainerStatuses: [],
  containerStatuses: [],
  ...fields,
});

export const conditionOf = (type: string, status: ConditionStatus, fields: Partial<Condition> = {}): Condition => ({
  type,
  status,
  ...fields,
});
