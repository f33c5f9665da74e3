/**
 * What alerts are decided from. Events are hints and may be lost or repeated, so a target is read again after each of
 * its events, and all targets are read at the start and from time to time.
 */
import { envelopeJson, envelopeOf } from '../bus/bus.ts';
import { schemaVersion } from '../bus/events.ts';
import type { ProbeRecord, ShownStatus, StatusRecord, TargetState } from '../core/spec/records.ts';
import { probeName } from '../core/spec/spec.ts';
import type { Condition } from '../core/spec/types.ts';
import { failureText } from '../core/status/failure-text.ts';
import { requestEvent } from '../core/status/restart-requests.ts';
import { shownStatus } from '../core/status/sync.ts';
import type { Json } from '../lib/json.ts';
import { toBusEvent } from '../status-sync/outbox.ts';

export type SeenTarget = {
  readonly kind: 'target';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: { readonly [key: string]: string };
  readonly ready: 'True' | 'False' | 'Unknown';
  /** When Ready last changed, ms since the epoch. */
  readonly sinceMs: number;
  readonly message: string;
  /** The present state as the event that reports it, for event patterns. */
  readonly event: Json;
  /** Absent: no restart is requested. */
  readonly restart?: { readonly sinceMs: number; readonly message: string; readonly event: Json };
  /** The stored status cannot be read, so it is not known whether a restart is requested. */
  readonly isUnreadable?: true;
};

/** A range of targets whose prober doubts itself, or that is in need. */
export type DegradedRange = {
  /** One range may have one problem of each kind. */
  readonly problem: 'doubt' | 'overload' | 'store' | 'holder';
  readonly shard: string;
  readonly hashRange: string;
  readonly reason: string;
  /** What is known beyond the reason. */
  readonly detail?: string;
  readonly sinceMs: number;
};

export type AlertInput =
  | SeenTarget
  /** The target is deleted or is being deleted. */
  | { readonly kind: 'gone'; readonly namespace: string; readonly name: string }
  /** All ranges that are degraded now. */
  | { readonly kind: 'prober'; readonly degraded: readonly DegradedRange[] }
  /** All targets have been read. Those that are not in `spared`, by `namespace/name`, are ready or deleted. */
  | { readonly kind: 'scanned'; readonly spared: ReadonlySet<string> };

/** Characters of a message that are kept with an incident. */
const messageCharactersMax = 500;

/** What is stored of a target; without a status if that cannot be read. */
export type StoredState = Pick<TargetState, 'target' | 'probes'> & { readonly status?: StatusRecord };

/** Returns what alerts look at in a stored target. `conditions`: as they are shown, if not as they are stored. */
export function seenTarget(state: StoredState, nowMs: number, conditions = storedConditions(state)): AlertInput {
  const { target, status, probes } = state;
  const { namespace, name, uid, labels } = target;
  if (target.deletionTimestampMs !== undefined) return { kind: 'gone', namespace, name };
  const ready = status ? conditions.find(({ type }) => type === 'Ready') : unreadable;
  const restart = status && restartOf({ target, status, probes }, nowMs);
  return {
    kind: 'target',
    namespace,
    name,
    uid,
    labels,
    ready: ready?.reason === podCompleted ? 'True' : (ready?.status ?? 'Unknown'),
    sinceMs: ready?.lastTransitionTimeMs ?? nowMs,
    message: messageOf(ready, Object.values(probes)),
    event: statusEvent(state, conditions, nowMs),
    ...(restart && { restart }),
    ...(!status && { isUnreadable: true }),
  };
}

const storedConditions = ({ status }: StoredState): readonly Condition[] => status?.status.conditions ?? [];

const unreadable: Condition = {
  type: 'Ready',
  status: 'Unknown',
  reason: 'Quarantined',
  message: 'the stored status cannot be read',
};

/** A Pod that has completed is not ready, which is no problem. */
const podCompleted = 'PodCompleted';

/** The cause comes first: what probes have said, then the condition that follows from it. */
function messageOf(ready: Condition | undefined, probes: readonly ProbeRecord[]): string {
  const { status, reason = '', message = '' } = ready ?? {};
  // What probes have said is not what makes Ready Unknown, but that they are late.
  if (status === 'Unknown') return [reason, message].filter(Boolean).join(': ').slice(0, messageCharactersMax);
  const failing = probes.filter(({ result }) => result === 'failure');
  return joined([...failing.map(probeMessage), message]);
}

const probeMessage = ({ container, probeType, output, failureClass }: ProbeRecord): string =>
  `${container} ${probeType}: ${failureText(output, failureClass)}`;

const joined = (texts: readonly string[]): string =>
  texts
    .filter((text) => text !== '')
    .join('; ')
    .slice(0, messageCharactersMax);

/** The old status is the new one: nothing changes now. */
function statusEvent({ target, status }: StoredState, conditions: readonly Condition[], timeMs: number): Json {
  const { uid } = target;
  const shown = status ? shownStatus({ ...status.status, conditions }) : unreadableStatus;
  const version = status?.version ?? 0;
  const detail = { resourceVersion: `${version}`, oldStatus: shown, newStatus: shown };
  const id = `${uid}/status/${version}`;
  return eventJson(target, { id, timeMs, detailType: 'Target Status Changed', detail });
}

const unreadableStatus: ShownStatus = { phase: 'Unknown', conditions: [unreadable], containers: [] };

function restartOf({ target, status, probes }: TargetState, timeMs: number): SeenTarget['restart'] {
  const open = Object.entries(status.restartRequests).filter(([, request]) => request.published > 0);
  const [first] = open;
  if (!first) return undefined;
  const [container, request] = first;
  const event = requestEvent(target, container, request, request.published, timeMs);
  return {
    sinceMs: Math.min(...open.map(([, each]) => each.requestedAtMs)),
    message: joined(
      open.flatMap(([name, { probeType, message }]) => {
        const probe = probes[probeName(name, probeType)];
        return [probe?.result === 'failure' ? probeMessage(probe) : '', message];
      }),
    ),
    event: eventJson(target, event),
  };
}

const eventJson = (...event: Parameters<typeof toBusEvent>): Json => envelopeJson(envelopeOf(toBusEvent(...event)));

/** Returns the event that reports a degraded range, for event patterns. */
export function degradedEvent({ shard, hashRange, reason, sinceMs }: DegradedRange): Json {
  const since = new Date(sinceMs).toISOString();
  const detail = { schemaVersion, id: `shard-${shard}#degraded#${sinceMs}`, shard, hashRange, reason, since } as const;
  return envelopeJson(envelopeOf({ detailType: 'Prober Degraded', timeMs: sinceMs, detail }));
}
