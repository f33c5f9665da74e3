/** The events of a probe: those in the event history and those on the bus. Pure. */
import { type BusEvent, schemaVersion } from '../../bus/events.ts';
import type { RecordedEvent } from '../../core/kubelet/probe-report.ts';
import type { EventRecord, ProbeRecord, TargetRecord } from '../../core/spec/records.ts';
import { probeName } from '../../core/spec/spec.ts';
import type { Result } from '../../core/spec/types.ts';
import { publishedResult } from '../../core/status/shown.ts';
import type { TimedAttempt } from '../../prober/probe.ts';
import type { HeldProbe } from './held.ts';
import type { EventRation } from './probe-verdict.ts';

/** IDs sort by time. The second part makes a repeated write hit the same item. */
export const eventId = (timeMs: number, what: string): string => `${String(timeMs).padStart(14, '0')}#${what}`;

const versionDigits = 10;

/**
 * The ID of the EVENT that was written with the record's current version. It sorts after kubelet's recorded events of
 * the same moment.
 */
export const transitionId = ({ container, probeType, sinceMs, version }: ProbeRecord): string =>
  eventId(sinceMs, `${probeName(container, probeType)}#~${String(version).padStart(versionDigits, '0')}`);

type Transition = {
  readonly probe: Pick<HeldProbe, 'probeType'>;
  readonly before: ProbeRecord;
  readonly after: ProbeRecord;
  readonly attempts: readonly TimedAttempt[];
};

export function transitionEvent({ probe, before, after, attempts }: Transition): EventRecord {
  const [previousResult, result] = [publishedResult(before), publishedResult(after)];
  const initial = isInitial(before, after);
  return {
    id: transitionId(after),
    uid: after.uid,
    timeMs: after.sinceMs,
    kind: 'transition',
    type: result === 'unknown' || (result === 'failure' && !initial) ? 'Warning' : 'Normal',
    reason: 'ProbeResultChanged',
    message: `${probe.probeType} of ${after.container}: ${changeText(before, after)}`,
    container: after.container,
    probeType: probe.probeType,
    containerID: after.containerID,
    ...(result && { result }),
    ...(previousResult && { previousResult }),
    ...(initial && { initial }),
    count: 1,
    attempts,
  };
}

function changeText(before: Published, after: Published): string {
  const to = publishedResult(after) ?? 'none';
  const change = isInitial(before, after) ? to : `${publishedResult(before) ?? 'none'} -> ${to}`;
  return after.unknown ? `${change} (${after.unknown.reason}: ${after.unknown.message})` : change;
}

type Published = Pick<ProbeRecord, 'result' | 'unknown'>;

/** The first result of a container's probe: none comes before it, and it is not the end of the worker. */
export const isInitial = (before: Published, after: Published): boolean =>
  publishedResult(before) === undefined && publishedResult(after) !== undefined;

/** The ration of kubelet's recorded events: the first of a run, then at most one in this time, with a count. */
export const eventIntervalMs = 300_000;

/** Decides whether this event is due now, and what of it stays in memory. */
export function rationed(
  before: EventRation | undefined,
  event: RecordedEvent,
  nowMs: number,
): { readonly isDue: boolean; readonly count: number; readonly ration: EventRation } {
  const reason = event.message.split(':', 1)[0] ?? event.reason;
  const count = before?.reason === reason ? before.suppressed + 1 : 1;
  if (before?.reason === reason && nowMs - before.recordedAtMs < eventIntervalMs)
    return { isDue: false, count, ration: { ...before, suppressed: count } };
  return { isDue: true, count, ration: { reason, recordedAtMs: nowMs, suppressed: 0 } };
}

export type Recording = Pick<HeldProbe, 'name' | 'probeType' | 'verdict'>;

type Recorded = {
  readonly probe: Recording;
  readonly event: RecordedEvent;
  readonly count: number;
  readonly attempts: readonly TimedAttempt[];
  readonly nowMs: number;
};

export function recordedEvent({ probe, event, count, attempts, nowMs }: Recorded): EventRecord {
  const { record, worker } = probe.verdict;
  return {
    id: eventId(nowMs, `${probe.name}#${event.reason}`),
    uid: record.uid,
    timeMs: nowMs,
    kind: 'recorded',
    type: event.type,
    reason: event.reason,
    message: event.message,
    container: record.container,
    probeType: probe.probeType,
    containerID: worker.containerID,
    count,
    attempts,
  };
}

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

export function recordedBusEvent(
  target: TargetRecord,
  { id, timeMs, reason, message, count, attempts }: EventRecord,
  probe: Pick<HeldProbe, 'probeType' | 'spec'>,
): BusEvent {
  return {
    detailType: reason === 'ProbeWarning' ? 'Container Probe Warning' : 'Container Unhealthy',
    timeMs,
    detail: {
      schemaVersion,
      id: `${target.uid}/${id}`,
      target: targetOf(target),
      container: probe.spec.container.spec.name,
      probeType: probe.probeType,
      message,
      count,
      attempts: attemptsOf(attempts),
    },
  };
}
