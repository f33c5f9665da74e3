/**
 * What status-sync does with one target, pure: kubelet's sync loop on an update (pkg/kubelet/kubelet.go:
 * syncLoopIteration, SyncPod; pkg/kubelet/kuberuntime: computePodActions), made level-triggered. From everything that
 * is known it decides the status, the restart requests and the events to publish. Reading twice or in another order
 * gives the same.
 */

import { sameValue } from '../../lib/equality.ts';
import { ownProperty } from '../../lib/own-property.ts';
import { statusesOf } from '../kubelet/pod-status.ts';
import type {
  EventRecord,
  OutboxEvent,
  ShownStatus,
  StatusRecord,
  TargetRecord,
  TargetState,
} from '../spec/records.ts';
import { type PlacedContainer, placedContainers, probeName, probeOf } from '../spec/spec.ts';
import type { PodStatus, ProbeType } from '../spec/types.ts';
import { observe } from './observed.ts';
import { boundedOutbox, entryName, isWritersOwn } from './outbox.ts';
import { advanceRequests, type Failing, requestDueMs, restartMessage } from './restart-requests.ts';
import { composeStatus } from './target-status.ts';

export type SyncPlan =
  /** The grace period has ended: all items of the uid are deleted. */
  | { readonly kind: 'purge' }
  /** STATUS is up to date. */
  | { readonly kind: 'settled' }
  | {
      readonly kind: 'write';
      /** To be written on condition of the version read. */
      readonly record: StatusRecord;
      /** The entries of its outbox to publish afterwards; the others belong to their writers. */
      readonly publish: readonly OutboxEvent[];
      /** Valid once the outbox is empty. */
      readonly acked: StatusRecord['acked'];
      readonly events: readonly EventRecord[];
    };

/** `published`: entries of the outbox, by name, that the caller has published and not yet removed. */
export function planSync(state: TargetState, nowMs: number, published: ReadonlySet<string> = new Set()): SyncPlan {
  const { target, status: old } = state;
  if (isPurgeDue(state, nowMs)) return { kind: 'purge' };
  const failing = failingContainers(state);
  const requests = advanceRequests(state, failing, nowMs);
  const next: StatusRecord = {
    ...old,
    observedResourceVersion: target.resourceVersion,
    observedReportVersion: state.report?.version ?? 0,
    restartRequests: requests.open,
  };
  const status = composeStatus({ ...state, status: next }, nowMs);
  const changed = statusChangedEvent({ target, version: old.version + 1, before: old.status, after: status, nowMs });
  const kept = old.outbox.filter((event) => !published.has(entryName(event)));
  const outbox = boundedOutbox([...kept, ...requests.outbox, ...changed]);
  const others = new Set(kept.filter((event) => isWritersOwn(event, nowMs)).map(entryName));
  const publish = outbox.filter((event) => !others.has(entryName(event)));
  const record: StatusRecord = { ...next, status, outbox };
  const acked = Object.fromEntries(Object.entries(state.probes).map(([name, probe]) => [name, probe.version]));
  // While the outbox has entries of other writers, those writers also ack.
  const isAcked = sameValue(acked, old.acked) || outbox.length > 0;
  if (sameValue(record, old) && isAcked && publish.length === 0) return { kind: 'settled' };
  return {
    kind: 'write',
    record: { ...record, version: old.version + 1 },
    publish,
    acked,
    events: [...restartEvents(state, status, nowMs), ...requestEvents(state, failing, nowMs)].map(withId),
  };
}

type SyncInput = Pick<TargetState, 'target' | 'status'> & { readonly report?: TargetState['report'] | undefined };

/** When this target next needs status-sync even if nothing happens to it, ms since the epoch; undefined: never. */
export function nextSyncMs(state: SyncInput, nowMs: number): number | undefined {
  const { target, report, status } = state;
  const behind =
    status.outbox.length > 0 ||
    status.observedResourceVersion !== target.resourceVersion ||
    status.observedReportVersion !== (report?.version ?? 0);
  const instants = [
    ...(behind ? [0] : []),
    ...[purgeMs({ target, report, status }) ?? []].flat(),
    ...Object.values(status.restartRequests).flatMap((request) => requestDueMs(request, nowMs) ?? []),
  ];
  return instants.length === 0 ? undefined : Math.min(...instants);
}

/**
 * How much longer a reported target stays whose containers have not been reported as ended when its grace period ends.
 * They are killed in that moment, and kubelet removes a pod only once it has reported their end.
 */
const endReportMs = 10_000;

/** When the target is purged, ms since the epoch; undefined: it does not terminate. A grace period of 0: at once. */
function purgeMs({ target, report, status }: SyncInput): number | undefined {
  const { deletionTimestampMs, deletionGracePeriodSeconds, spec } = target;
  if (deletionTimestampMs === undefined) return undefined;
  if (spec.lifecycle !== 'reported' || deletionGracePeriodSeconds === 0 || !report) return deletionTimestampMs;
  const isShown = status.observedReportVersion === report.version && status.outbox.length === 0;
  const hasEnded = isShown && statusesOf(report).every(({ state }) => state?.kind !== 'running');
  return deletionTimestampMs + (hasEnded ? 0 : endReportMs);
}

const isPurgeDue = (state: SyncInput, nowMs: number): boolean => (purgeMs(state) ?? Number.POSITIVE_INFINITY) <= nowMs;

/**
 * kubelet's computePodActions: a running container with a liveness or startup failure is killed; a terminating pod
 * restarts no container.
 */
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

/** Recorded once per containerID and episode, when the request is first made. */
function requestEvents(state: TargetState, failing: readonly Failing[], nowMs: number): readonly Unnamed[] {
  const { target, status } = state;
  return failing
    .filter((entry) => ownProperty(status.restartRequests, entry.status.name)?.containerID !== entry.status.containerID)
    .map(({ container, status: { name, containerID }, probeType }) =>
      recordedEvent(target, {
        reason: 'RestartRequested',
        type: 'Warning',
        message: restartMessage(target, container, probeType),
        container: name,
        containerID,
        probeType,
        nowMs,
      }),
    );
}

/** Restarts of static containers that were reported since the last write of the status. */
function restartEvents({ target, status: old }: TargetState, next: PodStatus, nowMs: number): readonly Unnamed[] {
  if (target.spec.lifecycle !== 'static') return [];
  const before = [...old.status.containerStatuses, ...old.status.initContainerStatuses];
  return [...next.containerStatuses, ...next.initContainerStatuses].flatMap(({ name, containerID, restartCount }) => {
    const known = before.find((status) => status.name === name);
    if (!known || restartCount <= known.restartCount) return [];
    const message = `Container ${name} was reported as restarted, restart ${restartCount}`;
    return recordedEvent(target, { reason: 'Restarted', type: 'Normal', message, container: name, containerID, nowMs });
  });
}

type Recorded = {
  readonly reason: string;
  readonly type: EventRecord['type'];
  readonly message: string;
  readonly container: string;
  readonly containerID: string;
  readonly probeType?: ProbeType;
  readonly nowMs: number;
};

type Unnamed = Omit<EventRecord, 'id'>;

const timeDigits = 14;
const placeDigits = 3;

/**
 * Ids sort in the order of the event history: within one millisecond after the results that led to them, then in the
 * order given.
 */
function withId(event: Unnamed, place: number): EventRecord {
  const time = String(event.timeMs).padStart(timeDigits, '0');
  return { ...event, id: `${time}#~${String(place).padStart(placeDigits, '0')}#${event.containerID}#${event.reason}` };
}

function recordedEvent(target: TargetRecord, { nowMs, ...recorded }: Recorded): Unnamed {
  return {
    ...recorded,
    uid: target.uid,
    timeMs: nowMs,
    kind: 'recorded',
    count: 1,
    attempts: [],
  };
}

// `Target Status Changed`: published when conditions, phase, ready or started differ, with the status before and after.

type Change = {
  readonly target: TargetRecord;
  /** Version of the status that is about to be written. */
  readonly version: number;
  readonly before: PodStatus;
  readonly after: PodStatus;
  readonly nowMs: number;
};

/** One event, or none if nothing visible has changed. */
export function statusChangedEvent({ target, version, before, after, nowMs }: Change): readonly OutboxEvent[] {
  const [oldStatus, newStatus] = [shownStatus(before), shownStatus(after)];
  if (sameValue(oldStatus, newStatus)) return [];
  const detail = { resourceVersion: String(version), oldStatus, newStatus };
  return [{ id: `${target.uid}/status/${version}`, detailType: 'Target Status Changed', timeMs: nowMs, detail }];
}

/** What subscribers see of a status. */
export function shownStatus(status: PodStatus): ShownStatus {
  return {
    phase: status.phase,
    conditions: status.conditions.map(({ type, status: value, reason, message }) => ({
      type,
      status: value,
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
    })),
    containers: [...status.initContainerStatuses, ...status.containerStatuses].map((container) => ({
      name: container.name,
      containerID: container.containerID,
      ready: container.ready,
      started: container.started === true,
      restartCount: container.restartCount,
    })),
  };
}
