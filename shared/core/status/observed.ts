/**
 * The pod's status as the prober sees it now: container states from the report or the static lifecycle, `started` and
 * `ready` computed from the results by UpdatePodStatus. The holder of a shard and status-sync both call this one
 * function, so the startup gate opens without a round trip.
 */
import { podPhase } from '../kubelet/phase.ts';
import { updatePodStatus } from '../kubelet/pod-status.ts';
import { staticContainerStatus } from '../kubelet/static-lifecycle.ts';
import type { ProbeRecord, TargetState } from '../spec/records.ts';
import type { ContainerSpec, PlacedContainer, ProbeName, SpecProbe, TargetSpec } from '../spec/spec.ts';
import { placedContainers, specProbes } from '../spec/spec.ts';
import type { ContainerStatus, Era, Phase, PodStatus, ProbeType, Result } from '../spec/types.ts';
import { countedOf } from './shown.ts';

/**
 * The product's era: durable state replaces kubelet's restart path, so every newly seen container gets its initial
 * value.
 */
export const productEra: Era = { changeContainerStatusOnKubeletRestart: true, kubeletStartMs: 0 };

export type Observed = {
  readonly phase: Phase;
  readonly initContainerStatuses: readonly ContainerStatus[];
  readonly containerStatuses: readonly ContainerStatus[];
  /** Readiness workers that UpdatePodStatus wants to probe at once. */
  readonly triggered: readonly ProbeName[];
};

type Cached = (probeType: ProbeType, containerID: string) => Result | undefined;

export function observe(state: TargetState): Observed {
  const { spec } = state.target;
  const cached = cacheOf(state);
  const updated = updatePodStatus({
    spec,
    ...rawStatuses(state),
    workers: workersOf(state),
    cached,
    podWasReady: false,
    era: productEra,
  });
  const said = spec.lifecycle === 'static' ? withLiveness(spec, updated, cached) : updated;
  return { ...updated, ...said, phase: phaseOf(state, said) };
}

/**
 * Lifecycle `static`: a failed liveness probe stops no container, so without a readiness probe the liveness probe makes
 * the container unready (difference 9).
 */
function withLiveness(
  { containers, initContainers }: Pick<TargetSpec, 'containers' | 'initContainers'>,
  { containerStatuses, initContainerStatuses }: Statuses,
  cached: Cached,
): Statuses {
  const judged = (specs: readonly ContainerSpec[], statuses: readonly ContainerStatus[]) =>
    statuses.map((status) => {
      const spec = specs.find(({ name }) => name === status.name);
      const isFailing = !spec?.readinessProbe && cached('liveness', status.containerID) === 'failure';
      return isFailing ? { ...status, ready: false } : status;
    });
  return {
    containerStatuses: judged(containers, containerStatuses),
    initContainerStatuses: judged(initContainers, initContainerStatuses),
  };
}

/** The PROBE item of a probe when it is added: never probed, version 0. */
export function newProbeRecord(
  uid: string,
  { container, probeType }: Pick<SpecProbe, 'container' | 'probeType'>,
): ProbeRecord {
  return {
    uid,
    container: container.spec.name,
    probeType,
    containerID: '',
    version: 0,
    streak: 0,
    resultRun: 0,
    onHold: false,
    ended: false,
    sinceMs: 0,
    specDigest: '',
    output: '',
  };
}

type Statuses = Pick<PodStatus, 'initContainerStatuses' | 'containerStatuses'>;

/** Container states before probe results are applied, in the order of the spec. */
function rawStatuses({ target, report }: TargetState): Statuses {
  const placed = placedContainers(target.spec);
  const regular = placed.filter(({ kind }) => kind === 'container');
  const init = placed.filter(({ kind }) => kind !== 'container');
  if (target.spec.lifecycle === 'static') {
    const statusOf = (container: PlacedContainer) => staticContainerStatus(target, container);
    return { containerStatuses: regular.map(statusOf), initContainerStatuses: init.map(statusOf) };
  }
  const reported = (containers: readonly PlacedContainer[], statuses: readonly ContainerStatus[]) =>
    containers.map(({ spec }) => statuses.find(({ name }) => name === spec.name) ?? unreported(spec.name));
  return {
    containerStatuses: reported(regular, report?.containerStatuses ?? []),
    initContainerStatuses: reported(init, report?.initContainerStatuses ?? []),
  };
}

/** A container that no report has named. */
export const unreported = (name: string): ContainerStatus => ({
  name,
  containerID: '',
  state: { kind: 'waiting', reason: 'ContainerCreating' },
  ready: false,
  started: null,
  restartCount: 0,
});

/**
 * Every probe of the spec has a worker, also while its item cannot be read or its worker has ended. kubelet derives
 * the status of a terminating pod before it stops liveness and startup workers and not again while containers run
 * (pkg/kubelet/kubelet.go, SyncTerminatingPod). Derived again without them, a container would count as started and
 * ready that never was.
 */
const workersOf = ({ target }: TargetState): ReadonlySet<ProbeName> =>
  new Set(specProbes(target.spec).map(({ name }) => name));

/**
 * The results caches. Only records of the container's current containerID count, and none of a probe that has left the
 * spec.
 */
function cacheOf({ target, probes }: TargetState): Cached {
  const results = new Map<string, Result>();
  for (const { name, probeType } of specProbes(target.spec)) {
    const record = probes[name];
    const result = record && countedOf(record).result;
    if (result) results.set(`${probeType}#${record.containerID}`, result);
  }
  return (probeType, containerID) => results.get(`${probeType}#${containerID}`);
}

/** A terminal phase is final unless the reporter of the containers says otherwise. */
function phaseOf({ target, report, status }: TargetState, statuses: Statuses): Phase {
  if (report?.phase && target.spec.lifecycle === 'reported') return report.phase;
  const { phase } = status.status;
  if (phase === 'Succeeded' || phase === 'Failed') return phase;
  return podPhase({ spec: target.spec, ...statuses, terminal: target.deletionTimestampMs !== undefined });
}
