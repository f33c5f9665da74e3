/**
 * The status that status-sync plans for what a setPodStatus of a vector says: its container states come with a report, and its `ready` and
 * `started` from PROBE items with the results that give them.
 */
import { isDeepStrictEqual } from 'node:util';
import { isCompared } from '../../shared/core/condition-owners.ts';
import { newProbeRecord, observe } from '../../shared/core/observed.ts';
import type { ProbeRecord, StatusRecord, TargetState } from '../../shared/core/records.ts';
import { type ContainerSpec, type ProbeName, specProbes, type TargetSpec } from '../../shared/core/spec.ts';
import { planSync } from '../../shared/core/sync.ts';
import type { ContainerStatus, PodStatus, Result } from '../../shared/core/types.ts';
import { targetRecordOf, tcpProbe } from '../support/pods.ts';
import type { Pod } from './status-manager-model.ts';

type Given = {
  readonly pod: Pod;
  /** As setPodStatus has it. */
  readonly said: PodStatus;
  readonly old: PodStatus;
  readonly nowMs: number;
};

const computed: readonly string[] = ['Initialized', 'Ready', 'ContainersReady'];

/** Undefined: no results of probes give these `ready` and `started`. */
export function plannedStatus({ pod, said, old, nowMs }: Given): PodStatus | undefined {
  const statuses = [...said.containerStatuses, ...said.initContainerStatuses].map(withStarted);
  const spec = withProbes(pod.spec, statuses);
  const results = new Map<ProbeName, Result>(
    statuses.flatMap(({ name, ready, started }) => [
      [`${name}#startup`, started ? 'success' : 'failure'] as const,
      [`${name}#readiness`, ready ? 'success' : 'failure'] as const,
    ]),
  );
  const recordOf = (probe: ReturnType<typeof specProbes>[number]): ProbeRecord => {
    const containerID = statuses.find(({ name }) => name === probe.container.spec.name)?.containerID ?? '';
    return { ...newProbeRecord(pod.uid, probe), containerID, result: results.get(probe.name) ?? 'unknown', version: 1 };
  };
  const probes = Object.fromEntries(specProbes(spec).map((probe) => [probe.name, recordOf(probe)]));
  const status: StatusRecord = {
    uid: pod.uid,
    version: 1,
    observedResourceVersion: 1,
    observedReportVersion: 1,
    status: old,
    restartRequests: {},
    acked: {},
    outbox: [],
  };
  const state: TargetState = {
    target: targetRecordOf({ uid: pod.uid, name: pod.name, generation: pod.generation, spec }),
    report: {
      uid: pod.uid,
      version: 1,
      reportedAtMs: nowMs,
      phase: said.phase,
      initContainerStatuses: said.initContainerStatuses,
      containerStatuses: said.containerStatuses,
      conditions: said.conditions.filter(({ type }) => !computed.includes(type)),
    },
    status,
    probes,
  };
  const { containerStatuses, initContainerStatuses } = observe(state);
  if (!isDeepStrictEqual(byName([...containerStatuses, ...initContainerStatuses]), byName(statuses))) return undefined;
  const plan = planSync(state, nowMs);
  return plan.kind === 'write' ? plan.record.status : old;
}

/** UpdatePodStatus leaves no container of which nothing is said. */
const withStarted = (status: ContainerStatus): ContainerStatus => ({ ...status, started: status.started ?? false });

/** A status without the order of its conditions, which is each side's. */
export const comparableStatus = (status: PodStatus): PodStatus => ({
  ...status,
  conditions: status.conditions.toSorted((a, b) => (a.type < b.type ? -1 : 1)),
  containerStatuses: status.containerStatuses.map(withStarted),
  initContainerStatuses: status.initContainerStatuses.map(withStarted),
});

/** The status with the conditions that others own as they were said last, which is where probelet shows them (difference 25). */
export const withForeignOf = (status: PodStatus, said: PodStatus): PodStatus => ({
  ...status,
  conditions: [
    ...status.conditions.filter(({ type }) => isCompared(type)),
    ...said.conditions.filter(({ type }) => !isCompared(type)),
  ],
});

const byName = (statuses: readonly ContainerStatus[]): readonly ContainerStatus[] =>
  statuses.toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** A container that has started has no startup probe: nothing else keeps one that is to be ready from starting. */
function withProbes(spec: TargetSpec, statuses: readonly ContainerStatus[]): TargetSpec {
  const probed = (container: ContainerSpec): ContainerSpec => {
    const status = statuses.find(({ name }) => name === container.name);
    if (status?.state?.kind !== 'running') return container;
    return { ...container, readinessProbe: tcpProbe, ...(!status.started && { startupProbe: tcpProbe }) };
  };
  return { ...spec, containers: spec.containers.map(probed), initContainers: spec.initContainers.map(probed) };
}
