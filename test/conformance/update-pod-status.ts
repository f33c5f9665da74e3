/**
 * update-pod-status.jsonl: `started` and `ready` from caches and workers, and the readiness probes that are triggered.
 */
import { updatePodStatus } from '../../shared/core/kubelet/pod-status.ts';
import { probeName } from '../../shared/core/spec/spec.ts';
import type { ContainerStatus, ProbeType, Result } from '../../shared/core/spec/types.ts';
import { compare } from './compare.ts';
import { containerOf, type RecordedContainer } from './manager-vector.ts';
import type { VectorRunner } from './runner.ts';
import { era, type FlatStatus, flatStatus, type VectorEra } from './status-decode.ts';

type Worker = { readonly container: string; readonly probeType: ProbeType; readonly alreadyTriggered?: boolean };

type Fields = VectorEra & {
  readonly podReadyCondition: string | null;
  readonly initContainers?: readonly RecordedContainer[];
  readonly containers?: readonly RecordedContainer[];
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
      initContainers: (fields.initContainers ?? []).map(containerOf),
      containers: (fields.containers ?? []).map(containerOf),
    },
    initContainerStatuses: (fields.initContainerStatuses ?? []).map(flatStatus),
    containerStatuses: (fields.containerStatuses ?? []).map(flatStatus),
    workers: new Set(workers.map((worker) => probeName(worker.container, worker.probeType))),
    cached: (probeType, containerID) => fields.caches?.[probeType]?.[containerID],
    podWasReady: fields.podReadyCondition === 'True',
    era: era(fields),
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

const outcome = (status: FlatStatus | ContainerStatus): unknown => ({
  name: status.name,
  started: status.started ?? false,
  ready: status.ready ?? false,
});
