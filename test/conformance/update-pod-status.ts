/** update-pod-status.jsonl: `started` and `ready` from caches and workers, and the readiness probes that are triggered. */
import { updatePodStatus } from '../../shared/core/pod-status.ts';
import { type ContainerSpec, type Probe, probeName } from '../../shared/core/spec.ts';
import type { ContainerStatus, ProbeType, RestartPolicy, Result } from '../../shared/core/types.ts';
import { compare } from './compare.ts';
import type { VectorRunner } from './runner.ts';
import { containerState, type VectorState } from './status-decode.ts';

type FlatStatus = {
  readonly name: string;
  readonly containerID?: string;
  readonly state?: VectorState['kind'];
  readonly startedAt?: number;
  readonly exitCode?: number;
  readonly started?: boolean | null;
  readonly ready?: boolean;
};

type FlatContainer = {
  readonly name: string;
  readonly restartPolicy?: RestartPolicy;
  readonly probes?: readonly ProbeType[];
};

type Worker = { readonly container: string; readonly probeType: ProbeType; readonly alreadyTriggered?: boolean };

type Fields = {
  readonly gates?: { readonly ChangeContainerStatusOnKubeletRestart?: boolean };
  readonly kubeletStart?: number;
  readonly podReadyCondition: string | null;
  readonly initContainers?: readonly FlatContainer[];
  readonly containers?: readonly FlatContainer[];
  readonly workers?: readonly Worker[];
  readonly caches?: { readonly [probeType in ProbeType]?: { readonly [containerID: string]: Result } };
  readonly initContainerStatuses?: readonly FlatStatus[];
  readonly containerStatuses?: readonly FlatStatus[];
  readonly expect: {
    readonly initContainerStatuses?: readonly FlatStatus[];
    readonly containerStatuses?: readonly FlatStatus[];
    readonly triggered?: readonly string[];
  };
};

export const runUpdatePodStatus: VectorRunner = (vector) => {
  const fields = vector as unknown as Fields;
  const workers = fields.workers ?? [];
  const updated = updatePodStatus({
    spec: {
      initContainers: (fields.initContainers ?? []).map(containerSpec),
      containers: (fields.containers ?? []).map(containerSpec),
    },
    initContainerStatuses: (fields.initContainerStatuses ?? []).map(containerStatus),
    containerStatuses: (fields.containerStatuses ?? []).map(containerStatus),
    workers: new Set(workers.map((worker) => probeName(worker.container, worker.probeType))),
    cached: (probeType, containerID) => fields.caches?.[probeType]?.[containerID],
    podWasReady: fields.podReadyCondition === 'True',
    era: {
      changeContainerStatusOnKubeletRestart: fields.gates?.ChangeContainerStatusOnKubeletRestart ?? false,
      kubeletStartMs: (fields.kubeletStart ?? 0) * 1000,
    },
  });
  return compare(
    'after the call',
    {
      initContainerStatuses: updated.initContainerStatuses.map(outcome),
      containerStatuses: updated.containerStatuses.map(outcome),
      triggered: newlyTriggered(updated.triggered, workers).sort(),
    },
    {
      initContainerStatuses: (fields.expect.initContainerStatuses ?? []).map(outcome),
      containerStatuses: (fields.expect.containerStatuses ?? []).map(outcome),
      triggered: [...(fields.expect.triggered ?? [])].sort(),
    },
  );
};

/** A trigger that is pending already is not a new one. */
function newlyTriggered(triggered: readonly string[], workers: readonly Worker[]): string[] {
  const fresh = workers.filter((worker) => !worker.alreadyTriggered);
  return fresh
    .filter((worker) => triggered.includes(probeName(worker.container, worker.probeType)))
    .map((worker) => `${worker.container}/${worker.probeType}`);
}

const anyProbe: Probe = {
  tcpSocket: { port: 1 },
  initialDelaySeconds: 0,
  periodSeconds: 10,
  timeoutSeconds: 1,
  successThreshold: 1,
  failureThreshold: 3,
};

function containerSpec({ name, restartPolicy, probes = [] }: FlatContainer): ContainerSpec {
  return {
    name,
    ...(restartPolicy && { restartPolicy }),
    ...(probes.includes('startup') && { startupProbe: anyProbe }),
    ...(probes.includes('readiness') && { readinessProbe: anyProbe }),
    ...(probes.includes('liveness') && { livenessProbe: anyProbe }),
  };
}

function containerStatus(from: FlatStatus): ContainerStatus {
  const { startedAt, exitCode } = from;
  const state = containerState({
    kind: from.state ?? 'none',
    ...(startedAt !== undefined && { startedAt }),
    ...(exitCode !== undefined && { exitCode }),
  });
  return {
    name: from.name,
    containerID: from.containerID ?? '',
    ...(state && { state }),
    ready: from.ready ?? false,
    started: from.started ?? null,
    restartCount: 0,
  };
}

const outcome = (status: FlatStatus | ContainerStatus): unknown => ({
  name: status.name,
  started: status.started ?? false,
  ready: status.ready ?? false,
});
