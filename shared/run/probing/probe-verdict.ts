/**
 * What a held probe has found: the part of `HeldProbe` that says it. Any code may read it; only the functions of this file write it.
 * What a worker becomes is decided in core, and what of it has to be durable in plan-step.ts.
 */
import type { ProbeReport } from '../../core/probe-report.ts';
import type { ProbeRecord } from '../../core/records.ts';
import type { Worker } from '../../core/worker.ts';
import type { TimedAttempt } from '../../prober/probe.ts';

/** kubelet's recorded events are rationed per probe: the first of a run, then one per interval with a count. */
export type EventRation = { readonly reason: string; readonly recordedAtMs: number; readonly suppressed: number };

/** What a step leaves in memory. */
export type Memory = {
  /** The record's worker state and what was counted since. */
  readonly worker: Worker;
  /** The attempts of the current run of equal results, oldest first. */
  readonly attempts: readonly TimedAttempt[];
  readonly ration: EventRation | undefined;
};

type State = { -readonly [Key in keyof Memory]: Memory[Key] } & {
  /** As last committed. */
  record: ProbeRecord;
  /** The last time the probe had a verdict, or nothing to probe. Wall time. */
  seenAtMs: number;
  /** The last verdict is void: the prober itself was at fault. */
  isVoid: boolean;
  /** The last probe of a prober that was sure of itself was a prober error. */
  erred: boolean;
  /** When (monotonic) this container was first seen running, where its start lies in the future. */
  runningSeen: { readonly containerID: string; readonly atMs: number } | undefined;
};

export type ProbeVerdict = Readonly<State>;

export const newVerdict = (record: ProbeRecord, worker: Worker, seenAtMs: number): ProbeVerdict => ({
  record,
  worker,
  attempts: [],
  ration: undefined,
  seenAtMs,
  isVoid: false,
  erred: false,
  runningSeen: undefined,
});

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

/** A changed spec: the counters start again. */
export function restartCounters(verdict: ProbeVerdict): void {
  const state: State = verdict;
  state.worker = withoutRun(verdict.worker);
}

/** The same worker with counters that start again. */
export function withoutRun({ lastResult: _, ...worker }: Worker): Worker {
  return { ...worker, resultRun: 0 };
}

/** The probe has a verdict of now, or nothing to probe. */
export function seen(verdict: ProbeVerdict, nowMs: number): void {
  const state: State = verdict;
  state.seenAtMs = nowMs;
}

/** Takes in whether the report says anything about the target. */
export function took(verdict: ProbeVerdict, report: ProbeReport, nowMs: number): void {
  const state: State = verdict;
  state.isVoid = isProberFault(report);
  if (!state.isVoid) state.seenAtMs = nowMs;
}

const isProberFault = ({ conclusion }: ProbeReport): boolean =>
  conclusion.kind === 'error' && conclusion.failureClass === 'PROBER';

/** Takes in the report of a prober that is sure of itself; whether it is the second prober error in a row. */
export function isStandingError(verdict: ProbeVerdict, report: ProbeReport): boolean {
  const state: State = verdict;
  const erredBefore = state.erred;
  state.erred = report.conclusion.kind === 'error';
  return erredBefore && state.erred;
}

/** The probe is in quarantine since then (wall time). */
export function leftAlone(verdict: ProbeVerdict, hungAtMs: number): void {
  const state: State = verdict;
  state.isVoid = true;
  state.erred = true;
  state.seenAtMs = Math.min(state.seenAtMs, hungAtMs);
}

/** The target was read again: a probe that was overdue before is overdue still. */
export function keepSeen(verdict: ProbeVerdict, before: ProbeVerdict | undefined): void {
  const state: State = verdict;
  if (before) state.seenAtMs = Math.min(state.seenAtMs, before.seenAtMs);
}

/** Wall time jumped by so much. */
export function shiftSeen(verdict: ProbeVerdict, jumpMs: number): void {
  const state: State = verdict;
  state.seenAtMs += jumpMs;
}

/** Since when (monotonic) this container has been seen running; from now, where it is another one than before. */
export function runningSince(verdict: ProbeVerdict, containerID: string, monotonicMs: number): number {
  const state: State = verdict;
  if (state.runningSeen?.containerID !== containerID) state.runningSeen = { containerID, atMs: monotonicMs };
  return state.runningSeen.atMs;
}
