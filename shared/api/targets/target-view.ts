/** From records to what the API shows. */

import type { RestartRequest, StatusRecord, TargetRecord } from '../../core/spec/records.ts';
import { type ContainerSpec, type ProbeName, type SpecProbe, specProbes } from '../../core/spec/spec.ts';
import type { Condition, ContainerState, ContainerStatus, PodStatus } from '../../core/spec/types.ts';
import { hasEnded } from '../../core/status/shown.ts';
import { conditionsOf } from '../../core/status/target-status.ts';
import { ownProperty } from '../../lib/own-property.ts';
import type {
  ContainerStateView,
  ContainerStatusView,
  ContainerView,
  StatusView,
  TargetView,
} from '../schema/target-schema.ts';
import { instantText, secondText } from './instant-text.ts';
import { type Late, lateOf, probeView, type ViewOptions } from './probe-view.ts';
import type { StoredTarget } from './stored-target.ts';

export function targetView(stored: StoredTarget, options: ViewOptions): TargetView {
  return {
    apiVersion: 'probelet.dev/v1',
    kind: 'Target',
    metadata: metadataView(stored.target),
    spec: specView(stored.target),
    status: statusView(stored, options),
  };
}

/** The status of the condition Ready as shown; Unknown if the status cannot be read. */
export const readyView = (stored: StoredTarget, options: ViewOptions): StatusView['conditions'][number]['status'] =>
  statusView(stored, options).conditions.find(({ type }) => type === 'Ready')?.status ?? 'Unknown';

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

/** zod's types know no readonly lists; a view is only ever serialized to JSON. */
const mutable = <View>(view: unknown): View => view as View;

function statusView(stored: StoredTarget, options: ViewOptions): StatusView {
  const { target, status } = stored;
  const ofSpec = specProbes(target.spec);
  const probes = ofSpec.map((probe) => probeView(stored, probe, options));
  if (!status) return { ...unreadableStatus, probes };
  const upToDate = status.observedResourceVersion === target.resourceVersion;
  return {
    resourceVersion: `${status.version}`,
    ...(upToDate && { observedGeneration: target.generation }),
    ...podStatusView(
      { ...status.status, conditions: shownConditions({ ...stored, status }, ofSpec, options) },
      status.restartRequests,
    ),
    probes,
  };
}

/** The conditions as shown; none if the status cannot be read. */
export function conditionsView(stored: StoredTarget, options: ViewOptions): readonly Condition[] {
  const { target, status } = stored;
  return status ? shownConditions({ ...stored, status }, specProbes(target.spec), options) : [];
}

/**
 * The conditions as written, unless a probe is late: then they are recomputed without it. Those that become Unknown did
 * so when the first probe became late.
 */
function shownConditions(
  stored: StoredTarget & { readonly status: StatusRecord },
  ofSpec: readonly SpecProbe[],
  options: ViewOptions,
): readonly Condition[] {
  const { target, status, probes, report } = stored;
  const late = new Map<ProbeName, Late>();
  for (const probe of ofSpec) {
    const found = hasEnded(target, probes[probe.name]) ? undefined : lateOf(stored, probe, options);
    if (found) late.set(probe.name, found);
  }
  const written = status.status.conditions;
  if (late.size === 0) return written;
  const reasons = new Map([...late].map(([name, { reason }]) => [name, reason]));
  const lateSinceMs = Math.min(...[...late.values()].map(({ sinceMs }) => sinceMs));
  return conditionsOf({ target, status, probes, ...(report && { report }) }, reasons).map((condition) => {
    const before = written.find(({ type }) => type === condition.type);
    const isSame = before?.status === condition.status;
    const sinceMs = isSame ? before?.lastTransitionTimeMs : lateSinceMs;
    return { ...condition, ...(sinceMs !== undefined && { lastTransitionTimeMs: sinceMs }) };
  });
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

type RestartRequests = StatusRecord['restartRequests'];

function podStatusView(status: PodStatus, requests: RestartRequests): Omit<StatusView, 'probes' | 'resourceVersion'> {
  const viewOf = (each: ContainerStatus) => containerStatusView(each, ownProperty(requests, each.name));
  return {
    phase: status.phase,
    ...(status.reason !== undefined && { reason: status.reason }),
    ...(status.message !== undefined && { message: status.message }),
    ...(status.startTimeMs !== undefined && { startTime: secondText(status.startTimeMs) }),
    conditions: status.conditions.map(conditionView),
    initContainerStatuses: status.initContainerStatuses.map(viewOf),
    containerStatuses: status.containerStatuses.map(viewOf),
  };
}

function conditionView({ lastTransitionTimeMs, ...rest }: Condition): StatusView['conditions'][number] {
  const since = lastTransitionTimeMs !== undefined && { lastTransitionTime: secondText(lastTransitionTimeMs) };
  return { ...rest, ...since };
}

function containerStatusView(status: ContainerStatus, request: RestartRequest | undefined): ContainerStatusView {
  return {
    name: status.name,
    ...(status.containerID !== '' && { containerID: status.containerID }),
    state: stateView(status.state),
    lastState: stateView(status.lastState),
    ready: status.ready,
    ...(status.started !== null && { started: status.started }),
    restartCount: status.restartCount,
    ...restartRequestView(request),
  };
}

/** A request that is not published yet, or that a reported restart has answered, is not open. */
function restartRequestView(request: RestartRequest | undefined): Pick<ContainerStatusView, 'restartRequest'> {
  if (!request || request.published === 0 || request.answered || request.probeType === 'readiness') return {};
  const { probeType, requestedAtMs, published, nextAtMs } = request;
  const requestedAt = instantText(requestedAtMs);
  return { restartRequest: { probeType, requestedAt, attempts: published, nextAttemptAt: instantText(nextAtMs) } };
}

function stateView(state: ContainerState | undefined): ContainerStateView {
  if (!state) return {};
  switch (state.kind) {
    case 'running':
      return { running: { startedAt: secondText(state.startedAtMs) } };
    case 'waiting': {
      const { kind: _, ...waiting } = state;
      return { waiting };
    }
    case 'terminated': {
      const { kind: _, startedAtMs, finishedAtMs, ...terminated } = state;
      const startedAt = startedAtMs !== undefined && { startedAt: secondText(startedAtMs) };
      const finishedAt = finishedAtMs !== undefined && { finishedAt: secondText(finishedAtMs) };
      return { terminated: { ...terminated, ...startedAt, ...finishedAt } };
    }
  }
}
