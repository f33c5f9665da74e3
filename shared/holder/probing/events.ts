/** The events of a probe: those in the event history and those on the bus. Pure. */
import { type BusEvent, schemaVersion } from '../../bus/events.ts';
import type { RecordedEvent } from '../../core/kubelet/probe-report.ts';
import type { WorkerState } from '../../core/kubelet/worker.ts';
import type { EventRecord, ProbeRecord, TargetRecord } from '../../core/spec/records.ts';
import { probeName } from '../../core/spec/spec.ts';
import type { Result } from '../../core/spec/types.ts';
import { publishedResult } from '../../core/status/shown.ts';
import type { TimedAttempt } from '../../prober/probe.ts';

/** kubelet's recorded events are rationed per probe: the first of a run, then one per interval with a count. */
export type EventRation = { readonly reason: string; readonly recordedAtMs: number; readonly suppressed: number };

/** What a probe has found, from one step of its worker to the next. */
export type Verdict = {
  /** The record as last committed. */
  readonly record: ProbeRecord;
  /** The worker state of the record, with what has been counted since. */
  readonly state: WorkerState;
  /** The attempts of the current run of equal results, oldest first, until it reaches its threshold. */
  readonly attempts: readonly TimedAttempt[];
  readonly ration: EventRation | undefined;
};

/** IDs sort by time. The second part makes a repeated write hit the same item. */
export const eventId = (timeMs: number, what: string): string => `${String(timeMs).padStart(14, '0')}#${what}`;

const versionDigits = 10;

/**
 * The ID of the EVENT that was written with the record's current version. It sorts after kubelet's recorded events of
 * the same moment.
 */
export const transitionId = ({ container, probeType, sinceMs, version }: ProbeRecord): string =>
  eventId(sinceMs, `${probeName(container, probeType)}#~${String(version).padStart(versionDigits, '0')}`);

/** `attempts`: those behind the change, oldest first. */
export function transitionEvent(
  before: ProbeRecord,
  after: ProbeRecord,
  attempts: readonly TimedAttempt[],
): EventRecord {
  const [previousResult, result] = [publishedResult(before), publishedResult(after)];
  const initial = isInitial(before, after);
  return {
    id: transitionId(after),
    uid: after.uid,
    timeMs: after.sinceMs,
    kind: 'transition',
    type: result === 'unknown' || (result === 'failure' && !initial) ? 'Warning' : 'Normal',
    reason: 'ProbeResultChanged',
    message: `${after.probeType} of ${after.container}: ${changeText(before, after)}`,
    container: after.container,
    probeType: after.probeType,
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

/** kubelet's event of a report, `count` times since it was last recorded. */
export function recordedEvent(
  { record, state }: Pick<Verdict, 'record' | 'state'>,
  event: RecordedEvent,
  count: number,
  attempts: readonly TimedAttempt[],
  nowMs: number,
): EventRecord {
  const { uid, container, probeType } = record;
  return {
    id: eventId(nowMs, `${probeName(container, probeType)}#${event.reason}`),
    uid,
    timeMs: nowMs,
    kind: 'recorded',
    type: event.type,
    reason: event.reason,
    message: event.message,
    container,
    probeType,
    containerID: state.containerID,
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
  previousResult: Result | undefined,
  after: ProbeRecord,
  attempts: EventRecord['attempts'],
): BusEvent {
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
  { container, probeType }: ProbeRecord,
): BusEvent {
  return {
    detailType: reason === 'ProbeWarning' ? 'Container Probe Warning' : 'Container Unhealthy',
    timeMs,
    detail: {
      schemaVersion,
      id: `${target.uid}/${id}`,
      target: targetOf(target),
      container,
      probeType,
      message,
      count,
      attempts: attemptsOf(attempts),
    },
  };
}
