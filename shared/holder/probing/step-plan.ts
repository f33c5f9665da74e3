/**
 * Turns the decision of a worker's step into the record that becomes durable, the events that are written with it, and
 * what stays in memory. Pure.
 */
import type { ProbeReport, RecordedEvent } from '../../core/kubelet/probe-report.ts';
import type { CacheAction, Step, Worker, WorkerSpec } from '../../core/kubelet/worker.ts';
import type { EventRecord, ProbeRecord, ProbeUnknown } from '../../core/spec/records.ts';
import type { TimedAttempt } from '../../prober/probe.ts';
import { outputOf } from '../../prober/stored-output.ts';
import { eventId, type Recording, rationed, recordedEvent, transitionEvent } from './events.ts';
import type { HeldProbe, HeldSpec } from './held.ts';
import type { Memory } from './probe-verdict.ts';

/** Attempts kept with a transition. */
export const attemptsMax = 10;

export type Report = ProbeReport<TimedAttempt>;
export type Planned = Pick<HeldProbe, 'name' | 'probeType' | 'spec' | 'verdict'>;

export type StepPlan = {
  /** The record to commit. Absent if nothing in it has to be durable. */
  readonly after?: ProbeRecord;
  /** To be written with the record, or alone if there is none. */
  readonly events: readonly EventRecord[];
  readonly memory: Memory;
};

/** The plan for a gate (without a report) or for a verdict. */
export function planStep(
  probe: Planned,
  step: Step,
  { report, nowMs }: Planning & { readonly report?: Report },
): StepPlan {
  const { worker } = step;
  const counted = report ? counting(probe.verdict, worker, report) : probe.verdict;
  const { events, ration } = report
    ? recorded(probe, counted, report, nowMs)
    : { events: none, ration: counted.ration };
  const after = changedRecord(probe, step, { nowMs, report });
  if (after) {
    const memory = { worker, attempts: counted.attempts, ration };
    return committing(probe, { after, events, memory }, report ? memory.attempts : []);
  }
  return { events, memory: { worker, attempts: isDecided(probe, worker) ? none : counted.attempts, ration } };
}

export type Planning = { readonly nowMs: number };

/** Each change of what is published is recorded as a transition in the event history. */
export function committing(
  probe: Planned,
  { after, events, memory }: Required<StepPlan>,
  attempts: readonly TimedAttempt[],
): StepPlan {
  const before = probe.verdict.record;
  if (after.version === before.version) return { after, events, memory };
  return { after, events: [transitionEvent({ probe, before, after, attempts }), ...events], memory };
}

type Counted = Pick<Memory, 'attempts' | 'ration'>;

const none: readonly never[] = [];

/**
 * The run has reached its threshold, and what it changed is durable with its attempts. None are kept any more: they
 * would live for a period, which is long enough to make them expensive garbage.
 */
const isDecided = ({ spec }: Planned, worker: Worker): boolean => worker.resultRun >= thresholdOf(worker, spec.worker);

/**
 * A hold ends a run of equal results, as a different result does: the next container gets separate events with separate
 * attempts.
 */
function counting({ worker, attempts, ration }: Memory, next: Worker, report: Report): Counted {
  const sameRun = next.lastResult === worker.lastResult && worker.resultRun > 0;
  if (!sameRun || attempts.length === 0) return { attempts: report.attempts, ration: sameRun ? ration : undefined };
  return { attempts: [...attempts, ...report.attempts].slice(-attemptsMax), ration };
}

/** The event that kubelet records for a report, if the ration allows it. */
export function recorded(probe: Planned, { ration: before }: Counted, { event, attempts }: Report, nowMs: number) {
  if (!event) return { events: none, ration: undefined };
  const { isDue, count, ration } = rationed(before, event, nowMs);
  return { events: isDue ? [recordedEvent({ probe, event, count, attempts, nowMs })] : [], ration };
}

/**
 * The record to commit, if something in it has to be durable. It includes the worker's state: if it kept the hold of
 * the old container, the new one would never be probed.
 */
function changedRecord(
  { verdict: { record }, spec }: Planned,
  step: Step,
  { nowMs, report }: Planning & { readonly report: Report | undefined },
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
export function renewed(record: ProbeRecord, nowMs: number): ProbeRecord {
  if (!record.ended) return record;
  const { endedWith: _, endedAtMs: __, ...rest } = record;
  return { ...rest, ended: false, sinceMs: nowMs };
}

/** The record with the worker's state. Another result begins a new streak. Run lengths are capped at the threshold. */
export function withWorker(
  record: ProbeRecord,
  worker: Worker,
  spec: Pick<HeldSpec, 'worker' | 'digest'>,
): ProbeRecord {
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

export function saturatedRun(worker: Worker, spec: WorkerSpec): number {
  return Math.min(worker.resultRun, thresholdOf(worker, spec));
}

const thresholdOf = ({ lastResult }: Worker, { failureThreshold, successThreshold }: WorkerSpec): number =>
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

// The plan for a probe that could not be made: a prober error. Pure.

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

// The event of a requested probe: it shows what the probe found even if no result changes. Pure.

const askedReason = 'Probed';

/** In the event history alone: on the bus are changes and kubelet's events. */
export const isAskedEvent = ({ reason }: EventRecord): boolean => reason === askedReason;

/** Its result is that of the probe; absent: it could not be made. */
export function askedEvent(
  { name, probeType, verdict: { record, worker } }: Recording,
  { conclusion, attempts }: Report,
  nowMs: number,
): EventRecord {
  const found = conclusion.kind === 'result' ? conclusion.result : `could not be made: ${conclusion.error}`;
  return {
    id: eventId(nowMs, `${name}#${askedReason}`),
    uid: record.uid,
    timeMs: nowMs,
    kind: 'recorded',
    type: found === 'success' ? 'Normal' : 'Warning',
    reason: askedReason,
    message: `${probeType} of ${record.container}, on request: ${found}`,
    container: record.container,
    probeType,
    containerID: worker.containerID,
    ...(conclusion.kind === 'result' && { result: conclusion.result }),
    count: 1,
    attempts,
  };
}
