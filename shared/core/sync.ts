/**
 * What status-sync does with one target, pure: kubelet's sync loop on an update (pkg/kubelet/kubelet.go: syncLoopIteration, SyncPod;
 * pkg/kubelet/kuberuntime: computePodActions), made level-triggered. It reads everything that is known and says what the status should
 * be, which restarts are asked for, and what is to be told; reading twice or in any order gives the same.
 */
import { sameValue } from './equality.ts';
import { composeStatus, observe } from './observed.ts';
import type {
  EventRecord,
  Incarnation,
  OutboxEvent,
  RestartRequest,
  StatusRecord,
  TargetRecord,
  TargetState,
} from './records.ts';
import type { PlacedContainer } from './spec.ts';
import { placedContainers, probeName, probeOf } from './spec.ts';
import {
  backoffMessage,
  killed,
  restarted,
  restarts,
  staticContainerID,
  withSpecContainers,
} from './static-lifecycle.ts';
import { statusChangedEvent } from './status-changed.ts';
import type { ContainerStatus, ProbeType } from './types.ts';

export type SyncPlan =
  /** The grace period has ended: everything of the uid goes. */
  | { readonly kind: 'purge' }
  /** Nothing differs from what STATUS says. */
  | { readonly kind: 'settled' }
  | {
      readonly kind: 'write';
      /** To be written on condition of the version read; its outbox is to be published, then cleared together with acking. */
      readonly record: StatusRecord;
      readonly acked: StatusRecord['acked'];
      readonly events: readonly EventRecord[];
      /** A static container began, waits or ended: the holder has to read it. */
      readonly containersChanged: boolean;
    };

/** A restart request is published again after this, then doubling up to the maximum, until the containerID changes. */
export const requestAgainFirstMs = 10_000;
export const requestAgainMaxMs = 300_000;

/** A running container whose liveness or startup probe has failed. */
type Failing = { readonly container: PlacedContainer; readonly status: ContainerStatus; readonly probeType: ProbeType };

export function planSync(state: TargetState, nowMs: number): SyncPlan {
  const { target, status: old } = state;
  if (graceEnded(target, nowMs)) return { kind: 'purge' };
  const failing = failingContainers(state);
  const lifecycle = advanceLifecycle(state, failing, nowMs);
  const requests = advanceRequests({ state, failing, incarnations: lifecycle.incarnations, nowMs });
  const next: StatusRecord = {
    ...old,
    observedResourceVersion: target.resourceVersion,
    observedReportVersion: state.report?.version ?? 0,
    incarnations: lifecycle.incarnations,
    restartRequests: requests.open,
  };
  const status = composeStatus({ ...state, status: next }, nowMs);
  const changed = statusChangedEvent({ target, version: old.version + 1, before: old.status, after: status, nowMs });
  const record: StatusRecord = { ...next, status, outbox: [...old.outbox, ...requests.outbox, ...changed] };
  const acked = Object.fromEntries(Object.entries(state.probes).map(([name, probe]) => [name, probe.version]));
  if (sameValue(record, old) && sameValue(acked, old.acked) && record.outbox.length === 0) return { kind: 'settled' };
  return {
    kind: 'write',
    record: { ...record, version: old.version + 1 },
    acked,
    events: lifecycle.events,
    containersChanged: !sameValue(record.incarnations, old.incarnations),
  };
}

type SyncInput = Pick<TargetState, 'target' | 'status'> & { readonly report?: TargetState['report'] | undefined };

/** When this target needs status-sync next although nothing happens to it, ms since the epoch; undefined: never. */
export function nextSyncMs(state: SyncInput): number | undefined {
  const { target, report, status } = state;
  const behind =
    status.outbox.length > 0 ||
    status.observedResourceVersion !== target.resourceVersion ||
    status.observedReportVersion !== (report?.version ?? 0);
  const instants = [
    ...(behind ? [0] : []),
    ...(target.deletionTimestampMs === undefined
      ? Object.values(status.incarnations).flatMap(({ restartAtMs }) => restartAtMs ?? [])
      : [target.deletionTimestampMs]),
    ...Object.values(status.restartRequests).map((request) => request.nextAtMs),
  ];
  return instants.length === 0 ? undefined : Math.min(...instants);
}

const graceEnded = ({ deletionTimestampMs }: TargetRecord, nowMs: number): boolean =>
  deletionTimestampMs !== undefined && deletionTimestampMs <= nowMs;

/** kubelet's computePodActions: a running container with a liveness or startup failure is killed; a terminating pod restarts nothing. */
function failingContainers(state: TargetState): readonly Failing[] {
  if (state.target.deletionTimestampMs !== undefined) return [];
  const { containerStatuses, initContainerStatuses } = observe(state);
  return placedContainers(state.target.spec).flatMap((container): Failing[] => {
    const statuses = container.kind === 'container' ? containerStatuses : initContainerStatuses;
    const status = statuses.find(({ name }) => name === container.spec.name);
    if (status?.state?.kind !== 'running') return [];
    const probeType = (['liveness', 'startup'] as const).find((type) =>
      hasFailed(state, container, status.containerID, type),
    );
    return probeType ? [{ container, status, probeType }] : [];
  });
}

function hasFailed(state: TargetState, container: PlacedContainer, containerID: string, probeType: ProbeType): boolean {
  const record = state.probes[probeName(container.spec.name, probeType)];
  if (!record || record.ended || !probeOf(container.spec, probeType)) return false;
  return record.result === 'failure' && record.containerID === containerID;
}

type Lifecycle = { readonly incarnations: StatusRecord['incarnations']; readonly events: readonly EventRecord[] };

function advanceLifecycle(state: TargetState, failing: readonly Failing[], nowMs: number): Lifecycle {
  const { target, status } = state;
  // Told once per containerID, as the request is made once.
  const events = failing
    .filter((entry) => status.restartRequests[entry.status.name]?.containerID !== entry.status.containerID)
    .map((entry) => killingEvent(target, entry, nowMs));
  if (target.spec.lifecycle === 'reported') return { incarnations: {}, events };
  const incarnations: Record<string, Incarnation> = { ...withSpecContainers(target, status.incarnations, nowMs) };
  for (const container of placedContainers(target.spec)) {
    const name = container.spec.name;
    const before = incarnations[name];
    if (!before) continue;
    const after = advanceIncarnation({ target, container, incarnation: before, failing, nowMs });
    incarnations[name] = after;
    if (after !== before) events.push(...incarnationEvents({ target, name, after, nowMs }));
  }
  return { incarnations, events };
}

type Advance = {
  readonly target: TargetRecord;
  readonly container: PlacedContainer;
  readonly incarnation: Incarnation;
  readonly failing: readonly Failing[];
  readonly nowMs: number;
};

function advanceIncarnation({ target, container, incarnation, failing, nowMs }: Advance): Incarnation {
  if (failing.some((entry) => entry.container.spec.name === container.spec.name))
    return killed({ target, container }, incarnation, nowMs);
  const due =
    incarnation.restartAtMs !== undefined &&
    incarnation.restartAtMs <= nowMs &&
    target.deletionTimestampMs === undefined;
  return due ? restarted(incarnation, nowMs) : incarnation;
}

type Requests = { readonly open: StatusRecord['restartRequests']; readonly outbox: readonly OutboxEvent[] };
type AdvanceRequests = {
  readonly state: TargetState;
  readonly failing: readonly Failing[];
  readonly incarnations: StatusRecord['incarnations'];
  readonly nowMs: number;
};

/** One request per failed containerID, published until another containerID is there. */
function advanceRequests({ state, failing, incarnations, nowMs }: AdvanceRequests): Requests {
  const { target, status } = state;
  const open: Record<string, RestartRequest> = {};
  const outbox: OutboxEvent[] = [];
  for (const entry of failing) {
    const name = entry.container.spec.name;
    const known = status.restartRequests[name];
    const request =
      known?.containerID === entry.status.containerID ? known : newRequest(target, entry, incarnations[name], nowMs);
    if (target.spec.lifecycle === 'static' && !restarts({ target, container: entry.container })) continue;
    open[name] = request;
  }
  // A static container that waits for its back-off is no longer failing, but nobody has answered its request.
  for (const [name, request] of Object.entries(status.restartRequests)) {
    if (open[name] === undefined && incarnations[name]?.restartAtMs !== undefined) open[name] = request;
  }
  for (const [name, request] of Object.entries(open)) {
    if (request.nextAtMs > nowMs) continue;
    outbox.push(requestEvent(target, name, request, nowMs));
    open[name] = { ...request, published: request.published + 1, nextAtMs: nowMs + againAfterMs(request.published) };
    if (answered(target, name, request, incarnations)) delete open[name];
  }
  return { open, outbox };
}

const againAfterMs = (published: number): number =>
  Math.min(requestAgainMaxMs, requestAgainFirstMs * 2 ** Math.min(published, 10));

function answered(
  target: TargetRecord,
  container: string,
  request: RestartRequest,
  incarnations: StatusRecord['incarnations'],
): boolean {
  const incarnation = incarnations[container];
  return (
    incarnation !== undefined &&
    staticContainerID(target.uid, container, incarnation.restartCount) !== request.containerID
  );
}

function newRequest(
  target: TargetRecord,
  { container, status, probeType }: Failing,
  incarnation: Incarnation | undefined,
  nowMs: number,
): RestartRequest {
  const probe = probeOf(container.spec, probeType);
  return {
    id: `${status.containerID}#restart`,
    containerID: status.containerID,
    probeType,
    requestedAtMs: nowMs,
    ...(incarnation?.restartAtMs !== undefined && { notBeforeMs: incarnation.restartAtMs }),
    terminationGracePeriodSeconds: probe?.terminationGracePeriodSeconds ?? target.spec.terminationGracePeriodSeconds,
    message: killMessage(target, container, probeType),
    published: 0,
    nextAtMs: nowMs,
  };
}

/** kubelet's text of the decision (pkg/kubelet/kuberuntime/kuberuntime_manager.go: computePodActions). */
function killMessage(target: TargetRecord, container: PlacedContainer, probeType: ProbeType): string {
  const message = `Container ${container.spec.name} failed ${probeType} probe`;
  return restarts({ target, container }) ? `${message}, will be restarted` : message;
}

function requestEvent(target: TargetRecord, container: string, request: RestartRequest, nowMs: number): OutboxEvent {
  const { id, containerID, probeType, message, terminationGracePeriodSeconds, notBeforeMs } = request;
  const placed = placedContainers(target.spec).find(({ spec }) => spec.name === container);
  return {
    id,
    detailType: 'Container Restart Requested',
    timeMs: nowMs,
    detail: {
      container,
      containerID,
      probeType,
      message,
      restartPolicy: placed?.spec.restartPolicy ?? target.spec.restartPolicy,
      terminationGracePeriodSeconds,
      ...(notBeforeMs !== undefined && { notBeforeMs }),
    },
  };
}

function killingEvent(target: TargetRecord, { container, status, probeType }: Failing, nowMs: number): EventRecord {
  return recordedEvent(target, {
    reason: 'Killing',
    type: 'Normal',
    message: killMessage(target, container, probeType),
    container: status.name,
    containerID: status.containerID,
    probeType,
    nowMs,
  });
}

function incarnationEvents({
  target,
  name,
  after,
  nowMs,
}: {
  readonly target: TargetRecord;
  readonly name: string;
  readonly after: Incarnation;
  readonly nowMs: number;
}): readonly EventRecord[] {
  const containerID = staticContainerID(target.uid, name, after.restartCount);
  if (after.terminated) return [];
  if (after.restartAtMs !== undefined) {
    const message = `Back-off restarting failed container ${name}: ${backoffMessage(target, name, after)}`;
    return [
      recordedEvent(target, { reason: 'BackOff', type: 'Warning', message, container: name, containerID, nowMs }),
    ];
  }
  return [
    recordedEvent(target, {
      reason: 'Started',
      type: 'Normal',
      message: `Started container ${name}, restart ${after.restartCount}`,
      container: name,
      containerID,
      nowMs,
    }),
  ];
}

type Told = {
  readonly reason: string;
  readonly type: EventRecord['type'];
  readonly message: string;
  readonly container: string;
  readonly containerID: string;
  readonly probeType?: ProbeType;
  readonly nowMs: number;
};

function recordedEvent(target: TargetRecord, { nowMs, ...told }: Told): EventRecord {
  return {
    ...told,
    id: `${String(nowMs).padStart(14, '0')}#${told.containerID}#${told.reason}`,
    uid: target.uid,
    timeMs: nowMs,
    kind: 'recorded',
    count: 1,
    attempts: [],
  };
}
