/**
 * What alerts are decided from. Events are hints and may be lost or repeated, so a target is read again after each of
 * its events, and all targets are read at the start and from time to time.
 */
import { envelopeJson, envelopeOf } from '../bus/envelope.ts';
import { schemaVersion } from '../bus/events.ts';
import { toBusEvent } from '../bus/outbox.ts';
import { failureText } from '../core/failure-text.ts';
import type { ProbeRecord, TargetState } from '../core/records.ts';
import { requestEvent } from '../core/restart-requests.ts';
import { probeName } from '../core/spec.ts';
import { shownStatus } from '../core/status-changed.ts';
import type { Json } from '../lib/json.ts';

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
};

/** A range of targets whose prober doubts itself. */
export type DegradedRange = {
  readonly shard: string;
  readonly hashRange: string;
  readonly reason: string;
  readonly sinceMs: number;
};

export type AlertInput =
  | SeenTarget
  /** The target is deleted or is being deleted. */
  | { readonly kind: 'gone'; readonly namespace: string; readonly name: string }
  /** All ranges that are degraded now. */
  | { readonly kind: 'prober'; readonly degraded: readonly DegradedRange[] }
  /**
   * All targets have been read since `startedMs`. Those that are not in `problems`, by `namespace/name`, are ready or
   * deleted.
   */
  | { readonly kind: 'scanned'; readonly startedMs: number; readonly problems: ReadonlySet<string> };

/** Characters of a message that are kept with an incident. */
const messageCharactersMax = 500;

/** Returns what alerts look at in a stored target. */
export function seenTarget(state: TargetState, nowMs: number): AlertInput {
  const { target, status } = state;
  const { namespace, name, uid, labels } = target;
  if (target.deletionTimestampMs !== undefined) return { kind: 'gone', namespace, name };
  const ready = status.status.conditions.find(({ type }) => type === 'Ready');
  const restart = restartOf(state, nowMs);
  return {
    kind: 'target',
    namespace,
    name,
    uid,
    labels,
    ready: ready?.reason === podCompleted ? 'True' : (ready?.status ?? 'Unknown'),
    sinceMs: ready?.lastTransitionTimeMs ?? nowMs,
    message: messageOf(ready?.message ?? '', Object.values(state.probes)),
    event: statusEvent(state, nowMs),
    ...(restart && { restart }),
  };
}

/** A Pod that has completed is not ready, which is no problem. */
const podCompleted = 'PodCompleted';

/** The cause comes first: what probes have said, then the condition that follows from it. */
function messageOf(condition: string, probes: readonly ProbeRecord[]): string {
  const failing = probes.filter(({ result }) => result === 'failure');
  return joined([...failing.map(probeMessage), condition]);
}

const probeMessage = ({ container, probeType, output, failureClass }: ProbeRecord): string =>
  `${container} ${probeType}: ${failureText(output, failureClass)}`;

const joined = (texts: readonly string[]): string =>
  texts
    .filter((text) => text !== '')
    .join('; ')
    .slice(0, messageCharactersMax);

/** The old status is the new one: nothing changes now. */
function statusEvent({ target, status }: TargetState, timeMs: number): Json {
  const { uid } = target;
  const shown = shownStatus(status.status);
  const detail = { resourceVersion: `${status.version}`, oldStatus: shown, newStatus: shown };
  const id = `${uid}/status/${status.version}`;
  return eventJson(target, { id, timeMs, detailType: 'Target Status Changed', detail });
}

function restartOf({ target, status, probes }: TargetState, timeMs: number): SeenTarget['restart'] {
  const open = Object.entries(status.restartRequests).filter(([, request]) => request.published > 0);
  const [first] = open;
  if (!first) return undefined;
  const [container, request] = first;
  const event = requestEvent(target, container, { request, attempt: request.published, nowMs: timeMs });
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
