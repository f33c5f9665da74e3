/** The bus events of a probe: its result changed, or kubelet recorded something. Pure. */

import { type BusEvent, schemaVersion } from '../../bus/events.ts';
import type { RecordedEvent } from '../../core/probe-report.ts';
import type { EventRecord, ProbeRecord, TargetRecord } from '../../core/records.ts';
import { publishedResult } from '../../core/shown.ts';
import type { Result } from '../../core/types.ts';
import type { TimedAttempt } from '../../prober/probe.ts';
import type { EventRation, HeldProbe } from './held-target.ts';
import { eventId } from './transition.ts';

/** kubelet's recorded events: the first of a run, then at most one in this time, with a count. */
export const eventIntervalMs = 300_000;

const targetOf = ({ namespace, name, uid }: TargetRecord) => ({ namespace, name, uid });

const attemptsOf = (attempts: EventRecord['attempts']) =>
  attempts.map(({ timeMs, ...attempt }) => ({
    time: new Date(timeMs).toISOString(),
    ...attempt,
    timings: { ...attempt.timings },
  }));

export function resultChanged(
  target: TargetRecord,
  change: { readonly previousResult: Result | undefined; readonly after: ProbeRecord },
  attempts: EventRecord['attempts'],
): BusEvent {
  const { previousResult, after } = change;
  const result = publishedResult(after);
  const { unknown } = after;
  return {
    detailType: 'Probe Result Changed',
    timeMs: after.sinceMs,
    detail: {
      schemaVersion,
      id: `${after.uid}/${after.container}/${after.probeType}/${after.version}`,
      target: targetOf(target),
      container: after.container,
      containerID: after.containerID,
      probeType: after.probeType,
      ...(result && { result }),
      ...(unknown && { reason: unknown.reason, failureClass: unknown.failureClass }),
      ...(previousResult && { previousResult }),
      ...(result && !previousResult && { initial: true }),
      version: after.version,
      output: unknown?.message ?? after.output,
      attempts: attemptsOf(attempts),
    },
  };
}

/** Whether this event is told now, and what is remembered of it. */
export function rationed(
  before: EventRation | undefined,
  event: RecordedEvent,
  nowMs: number,
): { readonly tell: boolean; readonly count: number; readonly ration: EventRation } {
  const reason = event.message.split(':', 1)[0] ?? event.reason;
  const count = before?.reason === reason ? before.suppressed + 1 : 1;
  if (before?.reason === reason && nowMs - before.recordedAtMs < eventIntervalMs)
    return { tell: false, count, ration: { ...before, suppressed: count } };
  return { tell: true, count, ration: { reason, recordedAtMs: nowMs, suppressed: 0 } };
}

type Recorded = {
  readonly probe: HeldProbe;
  readonly event: RecordedEvent;
  readonly count: number;
  readonly attempts: readonly TimedAttempt[];
  readonly nowMs: number;
};

export function recordedEvent({ probe, event, count, attempts, nowMs }: Recorded): EventRecord {
  return {
    id: eventId(nowMs, `${probe.name}#${event.reason}`),
    uid: probe.record.uid,
    timeMs: nowMs,
    kind: 'recorded',
    type: event.type,
    reason: event.reason,
    message: event.message,
    container: probe.record.container,
    probeType: probe.probeType,
    containerID: probe.worker.containerID,
    count,
    attempts,
  };
}

export function recordedBusEvent(
  target: TargetRecord,
  { id, timeMs, reason, message, count, attempts }: EventRecord,
  probe: HeldProbe,
): BusEvent {
  return {
    detailType: reason === 'ProbeWarning' ? 'Container Probe Warning' : 'Container Unhealthy',
    timeMs,
    detail: {
      schemaVersion,
      id: `${target.uid}/${id}`,
      target: targetOf(target),
      container: probe.record.container,
      probeType: probe.probeType,
      message,
      count,
      attempts: attemptsOf(attempts),
    },
  };
}

const reason = 'ProberError';

/**
 * A prober error that lasts: a missing secret, a name whose servers fail. It changes no result and is not on the bus (difference 4); the
 * event history says why the probe gives no verdict.
 */
export const isKeptQuiet = (event: EventRecord): boolean => event.reason === reason;

/** One at most in five minutes, with a count. */
export function ownTrouble(probe: HeldProbe, error: string, nowMs: number): readonly EventRecord[] {
  const message = `${probe.probeType} probe could not be made: ${error}`;
  const event: RecordedEvent = { type: 'Warning', reason, message, fieldPath: '' };
  const { tell, count, ration } = rationed(probe.ration, event, nowMs);
  probe.ration = ration;
  return tell ? [recordedEvent({ probe, event, count, attempts: [], nowMs })] : [];
}
