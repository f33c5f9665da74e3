/**
 * The part of `HeldProbe` that says what the probe has found. Any code may read it; only the functions of this file
 * write it. Core decides how the worker changes, and plan-step.ts what has to be durable.
 */
import type { ProbeReport } from '../../core/kubelet/probe-report.ts';
import type { Worker } from '../../core/kubelet/worker.ts';
import type { ProbeRecord } from '../../core/spec/records.ts';
import type { TimedAttempt } from '../../prober/probe.ts';

/** kubelet's recorded events are rationed per probe: the first of a run, then one per interval with a count. */
export type EventRation = { readonly reason: string; readonly recordedAtMs: number; readonly suppressed: number };

/** What a step leaves in memory. */
export type Memory = {
  /** The worker state of the record, with what has been counted since. */
  readonly worker: Worker;
  /** The attempts of the current run of equal results, oldest first, until it reaches its threshold. */
  readonly attempts: readonly TimedAttempt[];
  readonly ration: EventRation | undefined;
};

type State = { -readonly [Key in keyof Memory]: Memory[Key] } & {
  /** The record as last committed. */
  record: ProbeRecord;
  /** A write is under way that changes whether the worker may probe. The table may have it already. */
  isCommitting: boolean;
  /** When (wall time) the probe last had a verdict, or nothing to probe. */
  seenAtMs: number;
  /** When (wall time) the attempt began that gave this run's last verdict. */
  triedAtMs: number | undefined;
  /** The last verdict is void, because the prober itself was at fault. */
  isVoid: boolean;
  /** The last probe that was made while the prober trusted itself was a prober error. */
  erred: boolean;
  /** When (monotonic) this container was first seen running, if its start lies in the future. */
  runningSeen: { readonly containerID: string; readonly atMs: number } | undefined;
};

export type ProbeVerdict = Readonly<State>;

export const newVerdict = (record: ProbeRecord, worker: Worker, seenAtMs: number): ProbeVerdict => ({
  record,
  worker,
  attempts: [],
  ration: undefined,
  isCommitting: false,
  seenAtMs,
  triedAtMs: undefined,
  isVoid: false,
  erred: false,
  runningSeen: undefined,
});

export function committing(verdict: ProbeVerdict, isCommitting: boolean): void {
  const state: State = verdict;
  state.isCommitting = isCommitting;
}

export function committed(verdict: ProbeVerdict, record: ProbeRecord): void {
  const state: State = verdict;
  state.record = record;
}

export function remember(verdict: ProbeVerdict, { worker, attempts, ration }: Memory): void {
  const state: State = verdict;
  state.worker = worker;
  state.attempts = attempts;
  state.ration = ration;
}

/** The spec has changed, so the counters restart. */
export function restartCounters(verdict: ProbeVerdict): void {
  const state: State = verdict;
  state.worker = withoutRun(verdict.worker);
}

/** The same worker with restarted counters. */
export function withoutRun({ lastResult: _, ...worker }: Worker): Worker {
  return { ...worker, resultRun: 0 };
}

/** The probe has just had a verdict, or nothing to probe. */
export function seen(verdict: ProbeVerdict, nowMs: number): void {
  const state: State = verdict;
  state.seenAtMs = nowMs;
}

/** Notes whether the report says anything about the target. */
export function took(verdict: ProbeVerdict, report: ProbeReport<TimedAttempt>, nowMs: number): void {
  const state: State = verdict;
  state.isVoid = isProberFault(report);
  if (!state.isVoid) state.seenAtMs = nowMs;
  if (report.conclusion.kind === 'result') state.triedAtMs = report.attempts.at(-1)?.timeMs;
}

/** The prober itself was at fault. */
export const isProberFault = ({ conclusion }: ProbeReport): boolean =>
  conclusion.kind === 'error' && conclusion.failureClass === 'PROBER';

/** Takes in a report while the prober trusts itself. Returns whether it is the second prober error in a row. */
export function isStandingError(verdict: ProbeVerdict, report: ProbeReport): boolean {
  const state: State = verdict;
  const erredBefore = state.erred;
  state.erred = report.conclusion.kind === 'error';
  return erredBefore && state.erred;
}

/** The probe has been in quarantine since `hungAtMs` (wall time). */
export function leftAlone(verdict: ProbeVerdict, hungAtMs: number): void {
  const state: State = verdict;
  state.isVoid = true;
  state.erred = true;
  state.seenAtMs = Math.min(state.seenAtMs, hungAtMs);
}

/** The target was read again. A probe that was overdue before is still overdue. */
export function keepSeen(verdict: ProbeVerdict, before: ProbeVerdict | undefined): void {
  const state: State = verdict;
  if (before) state.seenAtMs = Math.min(state.seenAtMs, before.seenAtMs);
}

/** Wall time has jumped by `jumpMs`. */
export function shiftSeen(verdict: ProbeVerdict, jumpMs: number): void {
  const state: State = verdict;
  state.seenAtMs += jumpMs;
}

/** Since when (monotonic) this container has been seen running: since now, if it is another one than before. */
export function runningSince(verdict: ProbeVerdict, containerID: string, monotonicMs: number): number {
  const state: State = verdict;
  if (state.runningSeen?.containerID !== containerID) state.runningSeen = { containerID, atMs: monotonicMs };
  return state.runningSeen.atMs;
}
