/** What the manager vectors consist of, and what is seen of an agent after each of their ops. */

import type { ContainerSpec, Probe } from '../../shared/core/spec/spec.ts';
import type { Phase, ProbeType, RestartPolicy, Result } from '../../shared/core/spec/types.ts';

export type RecordedContainer = {
  readonly name: string;
  readonly restartPolicy?: RestartPolicy;
  readonly probes?: readonly ProbeType[];
};

export type RecordedPod = {
  readonly uid: string;
  readonly initContainers?: readonly RecordedContainer[];
  readonly containers?: readonly RecordedContainer[];
};

export type Op =
  | { readonly op: 'addPod'; readonly pod: RecordedPod }
  | { readonly op: 'removePod' | 'stopLivenessAndStartup'; readonly podUID: string }
  | { readonly op: 'cleanupPods'; readonly desired?: readonly string[] }
  | { readonly op: 'setPhase'; readonly podUID: string; readonly phase: Phase }
  | { readonly op: 'advance'; readonly seconds: number };

/** `workers`: `<pod uid>/<container>/<probe type>`, sorted. `caches`: the result of each containerID. */
export type Observed = {
  readonly workers: readonly string[];
  readonly caches: { readonly [probeType in ProbeType]: { readonly [containerID: string]: Result } };
};

export const containerIDOf = (uid: string, container: string): string => `test://${uid}-${container}`;

export const recordedProbe: Probe = {
  exec: { command: ['true'] },
  initialDelaySeconds: 0,
  periodSeconds: 10,
  timeoutSeconds: 1,
  successThreshold: 1,
  failureThreshold: 3,
};

export function specOfPod({ containers = [], initContainers = [] }: RecordedPod) {
  return { containers: containers.map(containerOf), initContainers: initContainers.map(initContainerOf) };
}

export const containerOf = ({ name, restartPolicy, probes = [] }: RecordedContainer): ContainerSpec => ({
  name,
  ...(restartPolicy && { restartPolicy }),
  ...Object.fromEntries(probes.map((probeType) => [`${probeType}Probe`, recordedProbe])),
});

/**
 * Kubernetes' API server refuses probes of plain init containers, as probelet's does; prober.Manager passes over them.
 */
const initContainerOf = (container: RecordedContainer): ContainerSpec =>
  containerOf(container.restartPolicy === 'Always' ? container : { ...container, probes: [] });

type WorkerName = { readonly uid: string; readonly container: string; readonly probeType: ProbeType };
type Cached = { readonly probeType: ProbeType; readonly containerID: string; readonly result: Result };

export function observedOf(workers: readonly WorkerName[], results: readonly Cached[]): Observed {
  const cacheOf = (type: ProbeType) =>
    Object.fromEntries(
      results.filter(({ probeType }) => probeType === type).map(({ containerID, result }) => [containerID, result]),
    );
  return {
    workers: workers.map(({ uid, container, probeType }) => `${uid}/${container}/${probeType}`).sort(),
    caches: { liveness: cacheOf('liveness'), readiness: cacheOf('readiness'), startup: cacheOf('startup') },
  };
}
