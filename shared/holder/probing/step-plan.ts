/**
 * Turns the decision of a worker's step into the record that becomes durable, the events that are written with it, and
 * what stays in memory. Pure.
 */
import { type ProbeReport, type RecordedEvent, reportOf } from '../../core/kubelet/probe-report.ts';
import type { CacheAction, Step, WorkerSpec, WorkerState } from '../../core/kubelet/worker.ts';
import type { EventRecord, ProbeRecord, ProbeUnknown } from '../../core/spec/records.ts';
import { probeName } from '../../core/spec/spec.ts';
import { publishedResult } from '../../core/status/shown.ts';
import type { TimedAttempt } from '../../prober/probe.ts';
import { outputOf } from '../../prober/stored-output.ts';
import { type EventRation, eventId, rationed, recordedEvent, transitionEvent, type Verdict } from './events.ts';
import type { HeldSpec } from './held-spec.ts';

/** Attempts kept with a transition. */
export const attemptsMax = 10;

export type Report = ProbeReport<TimedAttempt>;

export type StepPlan = {
  /** The record to commit. undefined: nothing in it has to be durable. */
  readonly after: ProbeRecord | undefined;
  /** To be written with the record, or alone if there is none. */
  readonly events: readonly EventRecord[];
  /** What stays in memory; its record is the one before the commit. */
  readonly next: Verdict;
};

const none: readonly never[] = [];

/**
 * The verdict after a step that leaves the record as it is committed and records no event, as most steps do. It is what
 * `planStep` would keep in memory, without a plan. undefined: something has to be written.
 */
export function unwritten(verdict: Verdict, spec: HeldSpec, step: Step, report?: Report): Verdict | undefined {
  const { record } = verdict;
  const state = step.worker;
  if (report?.event || !isAsCommitted(record, step)) return undefined;
  const counted = report ? countedAttempts(verdict, state, report) : verdict.attempts;
  const attempts = isDecided(state, spec.worker) ? none : counted;
  return { record, state, attempts, ration: report ? undefined : verdict.ration };
}

/** The plan for a gate (without a report) or for a result. */
export function planStep(verdict: Verdict, spec: HeldSpec, step: Step, nowMs: number, report?: Report): StepPlan {
  const { record } = verdict;
  const state = step.worker;
  const attempts = report ? countedAttempts(verdict, state, report) : verdict.attempts;
  const ration = report && !continuesRun(verdict, state) ? undefined : verdict.ration;
  const events = report ? recorded(verdict, ration, report, nowMs) : { records: none, ration };
  const after = changedRecord(record, spec, step, nowMs, report);
  if (after) {
    const next = { record, state, attempts, ration: events.ration };
    return withTransition({ after, events: events.records, next }, report ? attempts : none);
  }
  const kept = isDecided(state, spec.worker) ? none : attempts;
  return { after: undefined, events: events.records, next: { record, state, attempts: kept, ration: events.ration } };
}

/** Each change of what is published is recorded as a transition in the event history. */
function withTransition(plan: StepPlan & { readonly after: ProbeRecord }, attempts: readonly TimedAttempt[]): StepPlan {
  const { after, events, next } = plan;
  if (after.version === next.record.version) return plan;
  return { after, events: [transitionEvent(next.record, after, attempts), ...events], next };
}

/**
 * The run has reached its threshold, and what it changed is durable with its attempts. None are kept any more: they
 * would live for a period, which is long enough to make them expensive garbage.
 */
const isDecided = (state: WorkerState, spec: WorkerSpec): boolean => state.resultRun >= thresholdOf(state, spec);

/**
 * A hold ends a run of equal results, as a different result does: the next container gets separate events with separate
 * attempts.
 */
const continuesRun = ({ state }: Verdict, next: WorkerState): boolean =>
  next.lastResult === state.lastResult && state.resultRun > 0;

function countedAttempts(verdict: Verdict, next: WorkerState, report: Report): readonly TimedAttempt[] {
  if (!continuesRun(verdict, next) || verdict.attempts.length === 0) return report.attempts;
  return [...verdict.attempts, ...report.attempts].slice(-attemptsMax);
}

/** Events for the event history, and the ration that is left. */
type RecordedEvents = { readonly records: readonly EventRecord[]; readonly ration: EventRation | undefined };
const nothingRecorded: RecordedEvents = { records: none, ration: undefined };

/** The event that kubelet records for a report, if the ration allows it. */
function recorded(
  verdict: Verdict,
  before: EventRation | undefined,
  { event, attempts }: Report,
  nowMs: number,
): RecordedEvents {
  if (!event) return nothingRecorded;
  const { isDue, count, ration } = rationed(before, event, nowMs);
  return { records: isDue ? [recordedEvent(verdict, event, count, attempts, nowMs)] : none, ration };
}

/**
 * The record to commit, if something in it has to be durable. It includes the worker's state: if it kept the hold of
 * the old container, the new one would never be probed.
 */
function changedRecord(
  record: ProbeRecord,
  spec: HeldSpec,
  step: Step,
  nowMs: number,
  report: Report | undefined,
): ProbeRecord | undefined {
  if (isAsCommitted(record, step)) return undefined;
  const acted = step.actions.reduce(
    (acting, action) => withAction(acting, action, nowMs),
    withWorker(renewed(record, nowMs), step.worker, spec),
  );
  const after = withReport(acted, record, report);
  return mustCommit(record, after) ? after : undefined;
}

/** Whether the step leaves all of the record that has to be durable as it is: a shortcut, since most steps do. */
const isAsCommitted = (record: ProbeRecord, { worker, actions }: Step): boolean =>
  !record.ended &&
  worker.lastResult === record.lastResult &&
  worker.onHold === record.onHold &&
  actions.every((action) => isKnown(record, action));

const isKnown = (record: ProbeRecord, action: CacheAction): boolean =>
  action.kind === 'remove' ||
  (!action.initial && !record.unknown && record.containerID === action.containerID && record.result === action.result);

/** Output and class belong to the probe that gave the result, so they stay until the result changes. */
function withReport(
  record: ProbeRecord,
  before: ProbeRecord,
  report: ProbeReport<TimedAttempt> | undefined,
): ProbeRecord {
  const attempt = report?.attempts.at(-1);
  if (!attempt) return record;
  const timed = { ...record, lastChangeTimeMs: attempt.timeMs };
  if (record.version === before.version) return timed;
  const { failureClass } = attempt;
  return { ...timed, output: outputOf(attempt), ...(failureClass && { failureClass }) };
}

/**
 * The record after one action on the results cache. As with kubelet's Set, the version grows only if something changed.
 * For a new container the ID is stored but no result: no probe has observed kubelet's initial value (difference 22).
 */
export function withAction(record: ProbeRecord, action: CacheAction, nowMs: number): ProbeRecord {
  if (action.kind === 'remove' || isKnown(record, action)) return record;
  const { containerID, result } = action;
  if (action.initial) return withoutVerdict({ ...record, containerID });
  const { unknown: _, ...known } = record;
  return { ...withoutVerdict(known), containerID, result, version: record.version + 1, sinceMs: nowMs };
}

/** If no probe gave the state (a new container, one that does not run), the output of an earlier probe is removed. */
function withoutVerdict({ result: _, failureClass: __, ...record }: ProbeRecord): ProbeRecord {
  return { ...record, output: '' };
}

/**
 * An ended worker starts from scratch, without a result. It had none, so nothing that is published changes; but it is
 * shown why there is none, and since when.
 */
function renewed(record: ProbeRecord, nowMs: number): ProbeRecord {
  if (!record.ended) return record;
  const { endedWith: _, endedAtMs: __, ...rest } = record;
  return { ...rest, ended: false, sinceMs: nowMs };
}

/** The record with the worker's state. Another result begins a new streak. Run lengths are capped at the threshold. */
function withWorker(record: ProbeRecord, worker: WorkerState, spec: Pick<HeldSpec, 'worker' | 'digest'>): ProbeRecord {
  const { lastResult: _, ...rest } = record;
  // A hold resets the run length to 0. Results counted before the hold must not count again after a crash.
  const broke = worker.lastResult !== record.lastResult || (worker.onHold && !record.onHold);
  return {
    ...rest,
    onHold: worker.onHold,
    resultRun: saturatedRun(worker, spec.worker),
    streak: record.streak + (broke ? 1 : 0),
    specDigest: spec.digest,
    ...(worker.lastResult && { lastResult: worker.lastResult }),
  };
}

export function saturatedRun(worker: WorkerState, spec: WorkerSpec): number {
  return Math.min(worker.resultRun, thresholdOf(worker, spec));
}

const thresholdOf = ({ lastResult }: WorkerState, { failureThreshold, successThreshold }: WorkerSpec): number =>
  lastResult === 'failure' ? failureThreshold : successThreshold;

/** Whether a change has to be durable before it counts: a result, a hold, a streak break, but not a longer run. */
export function mustCommit(before: ProbeRecord, after: ProbeRecord): boolean {
  return (
    after.version !== before.version ||
    after.containerID !== before.containerID ||
    after.streak !== before.streak ||
    after.onHold !== before.onHold ||
    after.ended !== before.ended
  );
}

/** Compares two states of one item by the numbers that grow with every commit that matters. */
export const isNewer = (one: ProbeRecord, other: ProbeRecord): boolean =>
  one.version > other.version || (one.version === other.version && one.streak > other.streak);

// The plan for a probe that could not be made: a prober error.

/**
 * The error moves no counter, but makes the shown result unknown until the next verdict: a denied dial at once, any
 * other error once it is the second in a row (`isStanding`).
 */
export function planProberError(verdict: Verdict, report: Report, isStanding: boolean, nowMs: number): StepPlan {
  const { conclusion } = report;
  const { record } = verdict;
  if (conclusion.kind !== 'error') return { after: undefined, events: none, next: verdict };
  const { failureClass = 'PROBER', error } = conclusion;
  const isDenied = failureClass === 'POLICY_DENIED';
  const isQuiet = isStanding && (isDenied || failureClass === 'PROBER');
  const recordable = isQuiet ? { ...report, event: lastingError(record, error), attempts: none } : report;
  const events = recorded(verdict, verdict.ration, recordable, nowMs);
  const next = { record, state: verdict.state, attempts: verdict.attempts, ration: events.ration };
  const reason = isDenied ? 'PolicyDenied' : 'ProberError';
  const unknown: ProbeUnknown = { reason, failureClass, message: error };
  const after = isDenied || isStanding ? withUnknown(record, unknown, nowMs) : record;
  if (after === record) return { after: undefined, events: events.records, next };
  return withTransition({ after, events: events.records, next }, report.attempts);
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

/** The event of a prober error that lasts. Its ration: at most one in five minutes, with a count. */
const lastingError = ({ probeType }: ProbeRecord, error: string): RecordedEvent => ({
  type: 'Warning',
  reason: proberErrorReason,
  message: `${probeType} probe could not be made: ${error}`,
  fieldPath: '',
});

/** The report of a probe in quarantine, which is not made. The error comes from no prober and needs no self-check. */
export function quarantineReport({ container }: HeldSpec, { probeType }: ProbeRecord, error: string, timeMs: number) {
  const attempt = { outcome: 'unknown', output: '', error, failureClass: 'PROBER' } as const;
  const reported = { probeType, containerKind: container.kind, container: container.spec.name };
  return reportOf<TimedAttempt>([{ ...attempt, timeMs, timings: { totalMs: 0 } }], reported);
}

// The event of a requested probe: it shows what the probe found even if no result changes.

const requestedReason = 'Probed';

/** In the event history alone: on the bus are changes and kubelet's events. */
export const isOfRequest = ({ reason }: EventRecord): boolean => reason === requestedReason;

/** Its result is that of the probe; absent: it could not be made. */
export function requestedEvent(
  { record, state }: Verdict,
  { conclusion, attempts }: Report,
  nowMs: number,
): EventRecord {
  const { container, probeType } = record;
  const found = conclusion.kind === 'result' ? conclusion.result : `could not be made: ${conclusion.error}`;
  return {
    id: eventId(nowMs, `${probeName(container, probeType)}#${requestedReason}`),
    uid: record.uid,
    timeMs: nowMs,
    kind: 'recorded',
    type: found === 'success' ? 'Normal' : 'Warning',
    reason: requestedReason,
    message: `${probeType} of ${container}, on request: ${found}`,
    container,
    probeType,
    containerID: state.containerID,
    ...(conclusion.kind === 'result' && { result: conclusion.result }),
    count: 1,
    attempts,
  };
}

// The end of a worker.

/** Its cached result is removed; the item stays and is marked as ended. `withTarget`: because its target terminates. */
export function planEnd(verdict: Verdict, specDigest: string, withTarget: boolean, nowMs: number): StepPlan {
  const after = endedRecord(verdict.record, specDigest, withTarget, nowMs);
  return withTransition({ after, events: none, next: verdict }, none);
}

/** The record of an ended worker. The removal of a cached result is a change; there may have been none. */
export function endedRecord(record: ProbeRecord, specDigest: string, withTarget: boolean, nowMs: number): ProbeRecord {
  const { result, unknown, ...rest } = record;
  const ended = { ...rest, ended: true, onHold: false, specDigest, endedAtMs: nowMs };
  if (publishedResult(record) === undefined) return ended;
  const endedWith = { ...(result && { result }), ...(unknown && { unknown }) };
  return { ...ended, ...(withTarget && { endedWith }), version: record.version + 1, sinceMs: nowMs };
}
