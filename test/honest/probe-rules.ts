/** What may be shown of a probe, given its real findings: success only after a success, failure only after failures. */
import type { ProbeType } from './steps.ts';
import {
  commitsMs,
  denialsOf,
  incarnationOf,
  noticesMs,
  type ProbeTruth,
  returnsOf,
  specOf,
  standingErrorsOf,
  surelyCounted,
  surelyCountsMs,
  syncsMs,
  verdictsOf,
  workerSinceMs,
} from './truth.ts';

export type ShownProbe = {
  readonly container: string;
  readonly probeType: ProbeType;
  readonly result: 'success' | 'failure' | 'unknown';
  readonly reason?: string;
  readonly since: string;
  readonly lastProbeTime?: string;
  readonly onHold: boolean;
};

/** Status times are whole seconds, as in Kubernetes: a container's start may be shown this much too early. */
const statusTimeMs = 1_000;

type Rule = (truth: ProbeTruth, shown: ShownProbe) => readonly string[];

/** A failure waits for a self-check before it counts, and perhaps for the self-check before. */
const selfCheckMs = 150;

/** Probes of a worker begin a period apart, after a change of the spec at most 1.9 periods. */
const gapMax = 1.9;

/** What is wrong at once, unless the target was changed within `syncsMs`. */
export const probeLies: Rule = (truth, shown) => {
  if (!specOf(truth)) return ['it is not in the spec'];
  const late = afterTheStop(truth);
  if (late.length > 0) return late;
  return shown.result === 'unknown' ? reasonLies(truth, shown) : verdictLies(truth, shown, shown.result);
};

/** The holder reads its change counters until then: a probe may still begin, and its finding counts for nothing. */
function afterTheStop({ askedLateMs = 0, stoppedMs = askedLateMs }: ProbeTruth): readonly string[] {
  const lateMs = askedLateMs - stoppedMs;
  return lateMs > noticesMs ? [`it was probed ${lateMs} ms after the deletion of its target`] : [];
}

function verdictLies(truth: ProbeTruth, shown: ShownProbe, result: 'success' | 'failure'): readonly string[] {
  const incarnation = incarnationOf(truth);
  if (!incarnation) return ['its container has never run'];
  const { fromMs, downMs } = incarnation;
  const sinceMs = Date.parse(shown.since);
  if (downMs !== undefined && result === 'failure' && sinceMs >= downMs) return [];
  if (downMs !== undefined && result === 'success' && isOverdueDown(truth, shown, downMs))
    return ['its container does not run'];
  const beganMs = Math.max(fromMs, workerSinceMs(truth));
  const verdicts = verdictsOf(truth, result).filter((atMs) => atMs >= beganMs);
  if (verdicts.length === 0) return ['nothing of this container gave that result'];
  return isAt(sinceMs, verdicts) ? [] : ['no probe gave that result at `since`'];
}

const isAt = (sinceMs: number, times: readonly number[]): boolean =>
  times.some((atMs) => atMs <= sinceMs && sinceMs <= atMs + selfCheckMs);

/** The worker sees at its next tick that its container does not run. A startup verdict stays: its worker is on hold. */
function isOverdueDown({ nowMs, ...truth }: ProbeTruth, { probeType }: ShownProbe, downMs: number): boolean {
  const spec = truth.specs.at(-1);
  const changedMs = Math.max(downMs, spec?.sinceMs ?? 0);
  const periodMs = (spec?.spec?.periodSeconds ?? 0) * 1_000;
  return probeType !== 'startup' && nowMs > changedMs + noticesMs + gapMax * periodMs + commitsMs;
}

const reasonLies: Rule = (truth, { reason, since }) => {
  const sinceMs = Date.parse(since);
  const isSince = (times: readonly number[]) =>
    isAt(
      sinceMs,
      times.filter((atMs) => atMs >= workerSinceMs(truth)),
    );
  switch (reason) {
    case 'NotYetProbed':
      return [];
    case 'Ended':
      return truth.stoppedMs !== undefined || truth.hasFinished || isNotBack(truth)
        ? []
        : ['its target does not terminate'];
    case 'PolicyDenied':
      return isSince(denialsOf(truth)) ? [] : ['no probe was denied at `since`'];
    case 'ProberError':
      return isSince(standingErrorsOf(truth)) ? [] : ['no probe erred for the second time at `since`'];
    default:
      return ['there is no such reason in good health'];
  }
};

/** It came back into the spec when its target was about to be deleted, and no worker begins after that. */
const isNotBack = (truth: ProbeTruth): boolean =>
  returnsOf(truth).some((atMs) => atMs <= (truth.terminatedMs ?? 0) && atMs + noticesMs > (truth.terminatedMs ?? 0));

/** A verdict, or a reason, that is due and is not shown. */
export const missed: Rule = (truth, { result, reason }) => {
  const spec = specOf(truth);
  if (!spec || incarnationOf(truth)?.downMs !== undefined || truth.stoppedMs !== undefined) return [];
  const seen = surelyCounted(truth);
  const last = seen.at(-1)?.finding;
  const because = [`due after ${seen.map(({ finding }) => finding).join(' ')}`];
  if (truth.asked.at(-1) !== seen.at(-1)) return [];
  if (last === 'denied') return reason === 'PolicyDenied' ? [] : because;
  if (last === 'error' && seen.at(-2)?.finding === 'error') return reason === 'ProberError' ? [] : because;
  if (last !== 'success' && last !== 'failure') return [];
  const run = seen.slice(-spec[`${last}Threshold`]);
  const isDue = run.length === spec[`${last}Threshold`] && run.every(({ finding }) => finding === last);
  return isDue && result !== last ? because : [];
};

/** Of a static target: probing never pauses while its container runs. `turnMs`: since when the startup gate is open. */
export function pause(truth: ProbeTruth, turnMs: number | undefined): readonly string[] {
  const spec = specOf(truth);
  const incarnation = incarnationOf(truth);
  if (truth.stoppedMs !== undefined || truth.lifecycle !== 'static' || !spec || !incarnation || turnMs === undefined)
    return [];
  if (isNotBack(truth)) return [];
  const mayBeginMs = Math.max(incarnation.fromMs, truth.specs.at(-1)?.sinceMs ?? 0) + spec.initialDelaySeconds * 1_000;
  const lastMs = truth.asked.at(-1)?.atMs ?? 0;
  const fromMs = Math.max(mayBeginMs, surelyCountsMs(truth), turnMs, lastMs);
  const lateMs = truth.nowMs - fromMs - gapMax * spec.periodSeconds * 1_000;
  return lateMs > selfCheckMs ? [`it has not been asked for ${truth.nowMs - lastMs} ms`] : [];
}

/** The look before, and when (ms) another result was shown last. */
export type Before = { readonly shown: ShownProbe; readonly atMs: number; readonly otherMs: number };

export const isSame = (one: ShownProbe, other: ShownProbe): boolean =>
  one.result === other.result && one.reason === other.reason;

/** `since` stays while the result does, and is not earlier than any look at another result. */
export function sinceFaults(truth: ProbeTruth, shown: ShownProbe, before: Before): readonly string[] {
  const sinceMs = Date.parse(shown.since);
  if (sinceMs > truth.nowMs) return ['`since` is later than now'];
  const otherMs = isSame(shown, before.shown) ? before.otherMs : before.atMs;
  const shownAfterMs = shown.reason === 'NotYetProbed' ? statusTimeMs + syncsMs : commitsMs + selfCheckMs;
  if (sinceMs + shownAfterMs < otherMs) return [`another result was shown at ${new Date(otherMs).toISOString()}`];
  if (!isSame(shown, before.shown) || shown.since === before.shown.since) return [];
  const roundedMs = shown.reason === 'NotYetProbed' ? statusTimeMs : 0;
  if (sinceMs + roundedMs < Date.parse(before.shown.since)) return ['`since` went back'];
  const isMoved = sinceMs > Date.parse(before.shown.since) && !mayHaveTurned(truth, shown, before.atMs);
  return isMoved ? [`\`since\` moved from ${before.shown.since} while the result stayed`] : [];
}

/** Whether something unsynced at the last look may have given another result since. */
function mayHaveTurned(truth: ProbeTruth, { result }: ShownProbe, beforeMs: number): boolean {
  const periodMs = (specOf(truth)?.periodSeconds ?? 0) * 1_000;
  const others = [
    ...(result === 'success' ? [] : verdictsOf(truth, 'success')),
    ...(result === 'failure' ? [] : verdictsOf(truth, 'failure')),
    ...denialsOf(truth),
    ...standingErrorsOf(truth),
    ...truth.incarnations.flatMap(({ fromMs, downMs }) => [fromMs, downMs ?? 0]),
    ...returnsOf(truth).map((returnMs) => returnMs + periodMs),
  ];
  return others.some((atMs) => atMs >= beforeMs - noticesMs - commitsMs - syncsMs);
}

/** A holder says every 5 s until when all of its probes are done. */
const beatsMs = 5_000;

/** A probe that returns to its phase may be so much more than a period late (docs/design/probing.md). */
const offPhaseMs = 2_500;

/**
 * `lastProbeTime` is the time of a probe, to within a period and 2.5 s, no older than the last beat. `turnMs`: as in
 * `pause`.
 */
export function lastProbeFaults(truth: ProbeTruth, shown: ShownProbe, turnMs: number | undefined): readonly string[] {
  const done = surelyCounted(truth).findLast(({ finding }) => finding === 'success' || finding === 'failure');
  if (shown.lastProbeTime === undefined) return done ? ['it was probed, and has no `lastProbeTime`'] : [];
  const lastMs = Date.parse(shown.lastProbeTime);
  const periodMs = Math.max(...truth.specs.map(({ spec }) => spec?.periodSeconds ?? 0)) * 1_000;
  const { fromMs = 0 } = incarnationOf(truth) ?? {};
  // The first instants of a container follow its start, which is shown in whole seconds.
  const isFirst = lastMs > fromMs - statusTimeMs && lastMs < fromMs + noticesMs + gapMax * periodMs;
  if (!isFirst && !truth.asked.some(({ atMs }) => Math.abs(atMs - lastMs) <= periodMs + offPhaseMs))
    return [`it was not probed about ${shown.lastProbeTime}`];
  const isSteady =
    turnMs !== undefined &&
    truth.stoppedMs === undefined &&
    !shown.onHold &&
    shown.result !== 'unknown' &&
    !incarnationOf(truth)?.downMs;
  const settledMs = Math.max(turnMs ?? 0, truth.holder.sinceMs) + 2 * beatsMs;
  if (!isSteady || !done || truth.nowMs < settledMs) return [];
  return lastMs < done.atMs - periodMs - beatsMs ? [`it was probed last at ${new Date(done.atMs).toISOString()}`] : [];
}
