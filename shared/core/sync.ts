/**
 * What status-sync does with one target, pure: kubelet's sync loop on an update (pkg/kubelet/kubelet.go: syncLoopIteration, SyncPod;
 * pkg/kubelet/kuberuntime: computePodActions), made level-triggered. It reads everything that is known and says what the status should
 * be, which restarts are asked for, and what is to be told; reading twice or in any order gives the same.
 */
import { sameValue } from './equality.ts';
import { composeStatus, observe } from './observed.ts';
import { boundedOutbox, entryName, isWritersOwn } from './outbox.ts';
import { ownOf } from './own.ts';
import type { EventRecord, Incarnation, OutboxEvent, StatusRecord, TargetRecord, TargetState } from './records.ts';
import { advanceRequests, type Failing, isRequestDue, killMessage } from './restart-requests.ts';
import type { PlacedContainer } from './spec.ts';
import { placedContainers, probeName, probeOf } from './spec.ts';
import {
  backoffMessage,
  isBackoffOver,
  killed,
  restarted,
  staticContainerID,
  withSpecContainers,
} from './static-lifecycle.ts';
import { statusChangedEvent } from './status-changed.ts';
import type { ProbeType } from './types.ts';

export type SyncPlan =
  /** The grace period has ended: everything of the uid goes. */
  | { readonly kind: 'purge' }
  /** Nothing differs from what STATUS says. */
  | { readonly kind: 'settled' }
  | {
      readonly kind: 'write';
      /** To be written on condition of the version read. */
      readonly record: StatusRecord;
      /** The part of its outbox to publish after that; the rest is for those who wrote it. */
      readonly publish: readonly OutboxEvent[];
      /** Counts once the outbox is empty. */
      readonly acked: StatusRecord['acked'];
      readonly events: readonly EventRecord[];
      /** A static container began, waits or ended: the holder has to read it. */
      readonly containersChanged: boolean;
    };

/** `published`: entries of the outbox, by name, that the caller has published and not removed yet. */
export function planSync(state: TargetState, nowMs: number, published: ReadonlySet<string> = new Set()): SyncPlan {
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
  const kept = old.outbox.filter((event) => !published.has(entryName(event)));
  const outbox = boundedOutbox([...kept, ...requests.outbox, ...changed]);
  const others = new Set(kept.filter((event) => isWritersOwn(event, nowMs)).map(entryName));
  const publish = outbox.filter((event) => !others.has(entryName(event)));
  const record: StatusRecord = { ...next, status, outbox };
  const acked = Object.fromEntries(Object.entries(state.probes).map(([name, probe]) => [name, probe.version]));
  // While others have something to publish, so have they to ack.
  const isAcked = sameValue(acked, old.acked) || outbox.length > 0;
  if (sameValue(record, old) && isAcked && publish.length === 0) return { kind: 'settled' };
  return {
    kind: 'write',
    record: { ...record, version: old.version + 1 },
    publish,
    acked,
    events: lifecycle.events.map(withId),
    containersChanged: !sameValue(record.incarnations, old.incarnations),
  };
}

type SyncInput = Pick<TargetState, 'target' | 'status'> & { readonly report?: TargetState['report'] | undefined };

/** When this target needs status-sync next although nothing happens to it, ms since the epoch; undefined: never. */
export function nextSyncMs(state: SyncInput, nowMs: number): number | undefined {
  const { target, report, status } = state;
  const behind =
    status.outbox.length > 0 ||
    status.observedResourceVersion !== target.resourceVersion ||
    status.observedReportVersion !== (report?.version ?? 0);
  const instants = [
    ...(behind ? [0] : []),
    ...(target.deletionTimestampMs === undefined
      ? Object.values(status.incarnations).flatMap((incarnation) =>
          isBackoffOver(incarnation, nowMs)
            ? Math.min(incarnation.restartAtMs ?? nowMs, nowMs)
            : (incarnation.restartAtMs ?? []),
        )
      : [target.deletionTimestampMs]),
    ...Object.values(status.restartRequests).map((request) =>
      isRequestDue(request, nowMs) ? Math.min(request.nextAtMs, nowMs) : request.nextAtMs,
    ),
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

type Lifecycle = { readonly incarnations: StatusRecord['incarnations']; readonly events: readonly Unnamed[] };

function advanceLifecycle(state: TargetState, failing: readonly Failing[], nowMs: number): Lifecycle {
  const { target, status } = state;
  // Told once per containerID, as the request is made once.
  const events = failing
    .filter((entry) => ownOf(status.restartRequests, entry.status.name)?.containerID !== entry.status.containerID)
    .map((entry) => killingEvent(target, entry, nowMs));
  if (target.spec.lifecycle === 'reported') return { incarnations: {}, events };
  const incarnations: Record<string, Incarnation> = { ...withSpecContainers(target, status.incarnations, nowMs) };
  for (const container of placedContainers(target.spec)) {
    const name = container.spec.name;
    const before = ownOf(incarnations, name);
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
  const due = isBackoffOver(incarnation, nowMs) && target.deletionTimestampMs === undefined;
  return due ? restarted(incarnation, nowMs) : incarnation;
}

function killingEvent(target: TargetRecord, { container, status, probeType }: Failing, nowMs: number): Unnamed {
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
}): readonly Unnamed[] {
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

type Unnamed = Omit<EventRecord, 'id'>;

const timeDigits = 14;
const placeDigits = 3;

/** Ids sort as the story goes: in the same millisecond after the results that were acted on, then in the order given. */
function withId(event: Unnamed, place: number): EventRecord {
  const time = String(event.timeMs).padStart(timeDigits, '0');
  return { ...event, id: `${time}#~${String(place).padStart(placeDigits, '0')}#${event.containerID}#${event.reason}` };
}

function recordedEvent(target: TargetRecord, { nowMs, ...told }: Told): Unnamed {
  return {
    ...told,
    uid: target.uid,
    timeMs: nowMs,
    kind: 'recorded',
    count: 1,
    attempts: [],
  };
}
