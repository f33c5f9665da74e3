/** The plan for a probe that could not be made: a prober error. Pure. */
import type { RecordedEvent } from '../../core/kubelet/probe-report.ts';
import type { EventRecord, ProbeRecord, ProbeUnknown } from '../../core/spec/records.ts';
import { type Recording, rationed, recordedEvent } from './events.ts';
import { committing, type Planned, type Planning, type Report, recorded, type StepPlan } from './step-plan.ts';

type Erring = Planning & { readonly report: Report; readonly isStanding: boolean };

/**
 * The plan for a prober error. The error moves no counter, but makes the shown result unknown until the next verdict: a
 * denied dial at once, any other error once it is the second in a row.
 */
export function planProberError(probe: Planned, { report, isStanding, nowMs }: Erring): StepPlan {
  const { conclusion } = report;
  const { verdict } = probe;
  if (conclusion.kind !== 'error') return { events: [], memory: verdict };
  const { failureClass = 'PROBER', error } = conclusion;
  const isDenied = failureClass === 'POLICY_DENIED';
  const isQuiet = isStanding && (isDenied || failureClass === 'PROBER');
  const { events, ration } = isQuiet ? proberError(probe, error, nowMs) : recorded(probe, verdict, report, nowMs);
  const memory = { worker: verdict.worker, attempts: verdict.attempts, ration };
  const reason = isDenied ? 'PolicyDenied' : 'ProberError';
  const unknown: ProbeUnknown = { reason, failureClass, message: error };
  const after = isDenied || isStanding ? withUnknown(verdict.record, unknown, nowMs) : verdict.record;
  if (after === verdict.record) return { events, memory };
  return committing(probe, { after, events, memory }, report.attempts);
}

/**
 * The record of a probe that cannot be made. Only another reason or class is a change, since the message may differ
 * with each try.
 */
function withUnknown(record: ProbeRecord, unknown: ProbeUnknown, nowMs: number): ProbeRecord {
  const { reason, failureClass } = record.unknown ?? {};
  if (reason === unknown.reason && failureClass === unknown.failureClass) return record;
  return { ...record, unknown, version: record.version + 1, sinceMs: nowMs };
}

const proberErrorReason = 'ProberError';

/**
 * The event of a prober error that lasts, such as a missing secret or a name whose servers fail. It changes no result
 * and is not on the bus (difference 4), but the event history says why the probe gives no verdict.
 */
export const isKeptQuiet = (event: EventRecord): boolean => event.reason === proberErrorReason;

/** The event of a prober error that lasts: at most one in five minutes, with a count. */
function proberError(probe: Recording, error: string, nowMs: number) {
  const message = `${probe.probeType} probe could not be made: ${error}`;
  const event: RecordedEvent = { type: 'Warning', reason: proberErrorReason, message, fieldPath: '' };
  const { isDue, count, ration } = rationed(probe.verdict.ration, event, nowMs);
  return { events: isDue ? [recordedEvent({ probe, event, count, attempts: [], nowMs })] : [], ration };
}
