/** Which workers exist: the rules of kubelet's prober.Manager over a set of keys (pkg/kubelet/prober/prober_manager.go). */
import { type ContainerSpec, placedContainers, type SpecProbe, specProbes } from './spec.ts';
import { type ProbeType, probeTypes } from './types.ts';

/** `<target uid>/<container>/<probe type>`. */
export type WorkerKey = string;

export const workerKey = (uid: string, container: string, probeType: ProbeType): WorkerKey =>
  `${uid}/${container}/${probeType}`;

const uidOf = (key: WorkerKey): string => key.slice(0, key.indexOf('/'));

/** Of a target, what decides its workers. */
export type ProbedPod = {
  readonly uid: string;
  readonly spec: {
    readonly containers: readonly ContainerSpec[];
    readonly initContainers: readonly ContainerSpec[];
  };
};

/**
 * The probes that get a worker now, in kubelet's order: regular containers, then restartable init containers, each startup, readiness,
 * liveness. At the first worker that exists kubelet returns and leaves the rest undone (`return`); `continue` adds the others.
 */
export function addPod(
  existing: ReadonlySet<WorkerKey>,
  pod: ProbedPod,
  onExisting: 'return' | 'continue',
): readonly SpecProbe[] {
  const probes = specProbes(pod.spec);
  const exists = ({ container, probeType }: SpecProbe) =>
    existing.has(workerKey(pod.uid, container.spec.name, probeType));
  if (onExisting === 'continue') return probes.filter((probe) => !exists(probe));
  const firstExisting = probes.findIndex(exists);
  return firstExisting < 0 ? probes : probes.slice(0, firstExisting);
}

/** The workers that termination stops: of regular containers only, a sidecar's go on. Readiness goes on everywhere. */
export function stopLivenessAndStartup(existing: ReadonlySet<WorkerKey>, pod: ProbedPod): readonly WorkerKey[] {
  return existingOf(existing, pod.uid, pod.spec.containers, ['liveness', 'startup']);
}

/** All workers of the containers and sidecars that the latest spec names, whatever probes it gives them. */
export function removePod(existing: ReadonlySet<WorkerKey>, pod: ProbedPod): readonly WorkerKey[] {
  const probed = placedContainers(pod.spec).filter(({ kind }) => kind !== 'init');
  return existingOf(
    existing,
    pod.uid,
    probed.map(({ spec }) => spec),
    probeTypes,
  );
}

/** All workers of targets that are not desired. */
export function cleanupPods(existing: ReadonlySet<WorkerKey>, desiredUIDs: ReadonlySet<string>): readonly WorkerKey[] {
  return [...existing].filter((key) => !desiredUIDs.has(uidOf(key)));
}

function existingOf(
  existing: ReadonlySet<WorkerKey>,
  uid: string,
  containers: readonly Pick<ContainerSpec, 'name'>[],
  types: readonly ProbeType[],
): readonly WorkerKey[] {
  return containers
    .flatMap(({ name }) => types.map((probeType) => workerKey(uid, name, probeType)))
    .filter((key) => existing.has(key));
}
