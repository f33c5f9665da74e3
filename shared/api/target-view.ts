/** From records to what the API shows. */
import { probeLabel } from '../core/freshness.ts';
import type { TargetRecord } from '../core/records.ts';
import { type ContainerSpec, type SpecProbe, specProbes } from '../core/spec.ts';
import type { Condition, ContainerState, ContainerStatus, PodStatus } from '../core/types.ts';
import { type Freshness, isStale } from './freshness.ts';
import type { StoredTarget } from './stored-target.ts';
import type {
  ContainerStateView,
  ContainerStatusView,
  ContainerView,
  ProbeStatusView,
  StatusView,
  TargetView,
} from './target-schema.ts';

/** RFC 3339, in whole seconds where there are no others, as Kubernetes writes it. */
export const instantText = (timeMs: number): string => new Date(timeMs).toISOString().replace('.000Z', 'Z');

export type ViewOptions = { readonly freshness: Freshness; readonly nowMs: number };

export function targetView(stored: StoredTarget, options: ViewOptions): TargetView {
  return {
    apiVersion: 'probelet.dev/v1',
    kind: 'Target',
    metadata: metadataView(stored.target),
    spec: specView(stored.target),
    status: statusView(stored, options),
  };
}

function metadataView(target: TargetRecord): TargetView['metadata'] {
  const { namespace, name, uid, labels, annotations, generation, deletionTimestampMs } = target;
  return {
    namespace,
    name,
    uid,
    labels,
    annotations,
    generation,
    resourceVersion: `${target.resourceVersion}`,
    creationTimestamp: instantText(target.creationTimestampMs),
    ...(deletionTimestampMs !== undefined && { deletionTimestamp: instantText(deletionTimestampMs) }),
    ...(target.deletionGracePeriodSeconds !== undefined && {
      deletionGracePeriodSeconds: target.deletionGracePeriodSeconds,
    }),
  };
}

export function specView({ spec }: Pick<TargetRecord, 'spec'>): TargetView['spec'] {
  return mutable({
    ...spec,
    initContainers: spec.initContainers.map(containerView),
    containers: spec.containers.map(containerView),
  });
}

function containerView({ restartPolicyRules, ...container }: ContainerSpec): ContainerView {
  const rules = restartPolicyRules?.map(({ action, ...exitCodes }) => ({ action, exitCodes }));
  return mutable({ ...container, ...(rules && { restartPolicyRules: rules }) });
}

/** zod's types know no readonly lists; a view is only ever turned to JSON. */
const mutable = <View>(view: unknown): View => view as View;

function statusView(stored: StoredTarget, options: ViewOptions): StatusView {
  const { target, status } = stored;
  const stale = staleReason(stored, options);
  const probes = specProbes(target.spec).flatMap((probe) => probeView(stored, probe, options));
  if (!status) return { ...unreadableStatus, probes };
  const upToDate = status.observedResourceVersion === target.resourceVersion;
  return {
    resourceVersion: `${status.version}`,
    ...(upToDate && { observedGeneration: target.generation }),
    ...podStatusView(status.status, stale),
    probes,
  };
}

const unreadableStatus: Omit<StatusView, 'probes'> = {
  resourceVersion: '0',
  phase: 'Unknown',
  reason: 'Quarantined',
  message: 'The stored status cannot be read.',
  conditions: [],
  initContainerStatuses: [],
  containerStatuses: [],
};

type StaleReason = 'ProbeStale' | 'ProberDegraded' | undefined;

function staleReason({ target }: StoredTarget, options: ViewOptions): StaleReason {
  return specProbes(target.spec)
    .map((probe) => probeStaleReason(target, probe, options))
    .find((reason) => reason !== undefined);
}

function probeStaleReason(target: TargetRecord, { name, probe }: SpecProbe, options: ViewOptions): StaleReason {
  const { freshness, nowMs } = options;
  if (freshness.degraded) return 'ProberDegraded';
  const { periodSeconds } = probe;
  const shown = { name: probeLabel(target, name), periodSeconds, sinceMs: target.creationTimestampMs, nowMs };
  return isStale(freshness, shown) ? 'ProbeStale' : undefined;
}

function podStatusView(status: PodStatus, stale: StaleReason): Omit<StatusView, 'probes' | 'resourceVersion'> {
  return {
    phase: status.phase,
    ...(status.reason !== undefined && { reason: status.reason }),
    ...(status.message !== undefined && { message: status.message }),
    ...(status.startTimeMs !== undefined && { startTime: instantText(status.startTimeMs) }),
    conditions: status.conditions.map((condition) => conditionView(condition, stale)),
    initContainerStatuses: status.initContainerStatuses.map(containerStatusView),
    containerStatuses: status.containerStatuses.map(containerStatusView),
  };
}

/** What rests on probes is not known while they are not done. */
const restOnProbes: ReadonlySet<string> = new Set(['Ready', 'ContainersReady']);

function conditionView(condition: Condition, stale: StaleReason): StatusView['conditions'][number] {
  const { lastTransitionTimeMs, ...rest } = condition;
  const since = lastTransitionTimeMs !== undefined && { lastTransitionTime: instantText(lastTransitionTimeMs) };
  if (!stale || !restOnProbes.has(condition.type)) return { ...rest, ...since };
  const message = 'The probes of this target are not being done.';
  return { type: condition.type, status: 'Unknown', reason: stale, message, ...since };
}

function containerStatusView(status: ContainerStatus): ContainerStatusView {
  return {
    name: status.name,
    ...(status.containerID !== '' && { containerID: status.containerID }),
    state: stateView(status.state),
    lastState: stateView(status.lastState),
    ready: status.ready,
    ...(status.started !== null && { started: status.started }),
    restartCount: status.restartCount,
  };
}

function stateView(state: ContainerState | undefined): ContainerStateView {
  if (!state) return {};
  switch (state.kind) {
    case 'running':
      return { running: { startedAt: instantText(state.startedAtMs) } };
    case 'waiting': {
      const { kind: _, ...waiting } = state;
      return { waiting };
    }
    case 'terminated': {
      const { kind: _, startedAtMs, finishedAtMs, ...terminated } = state;
      const startedAt = startedAtMs !== undefined && { startedAt: instantText(startedAtMs) };
      const finishedAt = finishedAtMs !== undefined && { finishedAt: instantText(finishedAtMs) };
      return { terminated: { ...terminated, ...startedAt, ...finishedAt } };
    }
  }
}

const unreadableProbe = ({ container, probeType }: SpecProbe): ProbeStatusView => ({
  container: container.spec.name,
  probeType,
  result: 'unknown',
  reason: 'Quarantined',
  onHold: false,
  version: 0,
});

function probeView(stored: StoredTarget, probe: SpecProbe, options: ViewOptions): readonly ProbeStatusView[] {
  const record = stored.probes[probe.name];
  if (!record) return [unreadableProbe(probe)];
  const stale = probeStaleReason(stored.target, probe, options);
  const result = stale ? 'unknown' : record.result;
  return [
    {
      container: record.container,
      probeType: record.probeType,
      ...(result && { result }),
      ...(stale && { reason: stale }),
      ...(record.version > 0 && { since: instantText(record.sinceMs) }),
      ...(record.lastProbeTimeMs !== undefined && { lastProbeTime: instantText(record.lastProbeTimeMs) }),
      ...(record.failureClass && { failureClass: record.failureClass }),
      ...(record.output !== '' && { output: record.output }),
      onHold: record.onHold,
      version: record.version,
    },
  ];
}
