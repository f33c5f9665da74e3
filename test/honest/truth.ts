/**
 * What has really happened to a probe: its findings, specs and containers with their times, and which results may and
 * must follow. Nothing here comes from the product.
 */
import type { Finding, Lifecycle, ProbeSpec, ProbeType } from './steps.ts';

/** The holder reads its change counters every 1.5 s; until then it uses the earlier spec, report and container. */
export const noticesMs = 1_600;

/** Commits of a holder begin at most 32 times a second, one after another: a finding is durable after this. */
export const commitsMs = 300;

/** status-sync writes after each commit and each write of the API; a conflict costs a retry with jitter. */
export const syncsMs = 300;

/** One probe that was made: when (ms), the number of its holder, and what it found. */
export type Asked = { readonly atMs: number; readonly holder: number; readonly finding: Finding };

/** A spec of a probe and since when (ms); undefined: the probe was not in the spec of the target. */
export type SpecSince = { readonly sinceMs: number; readonly spec: ProbeSpec | undefined };

/** One container: a restart makes another one. */
export type Incarnation = {
  readonly id: string;
  readonly fromMs: number;
  /** Since when it does not run any more. */
  readonly downMs?: number;
};

/** Who holds the shard since when (ms). Several holders may begin at one instant, so each has a number. */
export type Holder = { readonly number: number; readonly sinceMs: number };

export type ProbeTruth = {
  readonly nowMs: number;
  readonly lifecycle: Lifecycle;
  readonly probeType: ProbeType;
  readonly registeredMs: number;
  /** Since the registration, each different from the one before, in order. */
  readonly specs: readonly SpecSince[];
  /** Those of the container, in order; none: it was never reported. */
  readonly incarnations: readonly Incarnation[];
  /** Since the registration, in order. */
  readonly asked: readonly Asked[];
  readonly holder: Holder;
  /** When holders crashed. */
  readonly crashesMs: readonly number[];
  /** When the deletion of its target stopped the probe: `asked` ends there, as later findings do not count. */
  readonly stoppedMs?: number | undefined;
  readonly terminatedMs?: number | undefined;
  /** The reporter has said how the target ended, so no probe is made any more. */
  readonly hasFinished?: boolean;
  /** When it was asked last all the same. */
  readonly askedLateMs?: number | undefined;
};

type Reign = { readonly sinceMs: number; readonly untilMs: number; readonly spec: ProbeSpec | undefined };

const reignsOf = ({ specs }: ProbeTruth): readonly Reign[] =>
  specs.map((each, place) => ({ ...each, untilMs: specs[place + 1]?.sinceMs ?? Number.POSITIVE_INFINITY }));

export const specOf = ({ specs }: ProbeTruth): ProbeSpec | undefined => specs.at(-1)?.spec;

export const incarnationOf = ({ incarnations }: ProbeTruth): Incarnation | undefined => incarnations.at(-1);

/** Findings that a crash may have lost before they were durable. */
const isLost = ({ crashesMs }: ProbeTruth, { atMs }: Asked): boolean =>
  crashesMs.some((crashMs) => atMs <= crashMs && crashMs - atMs < commitsMs);

/** The thresholds that the holder may have used at this time. */
function thresholdsAt(truth: ProbeTruth, atMs: number, result: 'success' | 'failure'): readonly number[] {
  const inForce = reignsOf(truth).filter(({ sinceMs, untilMs }) => sinceMs <= atMs && atMs <= untilMs + noticesMs);
  return inForce.flatMap(({ spec }) => spec?.[`${result}Threshold`] ?? []);
}

/** Whether a change of the spec was noticed between two probes, so that the first does not count any more. */
const countersRestart = (truth: ProbeTruth, fromMs: number, toMs: number): boolean =>
  reignsOf(truth).some(({ sinceMs, untilMs }) => sinceMs > fromMs && Math.min(untilMs, toMs) - sinceMs > noticesMs);

/** With lifecycle `reported` a startup verdict and a liveness failure put the worker on hold, which ends the run. */
const endsRun = ({ lifecycle, probeType }: ProbeTruth, result: 'success' | 'failure'): boolean =>
  lifecycle === 'reported' && (probeType === 'startup' || (probeType === 'liveness' && result === 'failure'));

/** Whether nothing that was counted between these times can have been lost, by a crash or with another spec. */
const isUndisturbed = ({ specs, crashesMs }: ProbeTruth, fromMs: number, toMs: number): boolean =>
  !crashesMs.some((crashMs) => crashMs >= fromMs && crashMs <= toMs + commitsMs) &&
  !specs.slice(1).some(({ sinceMs }) => sinceMs > fromMs - noticesMs && sinceMs <= toMs);

/**
 * When (ms) a verdict may have come about, by the most generous count: a prober error neither lengthens a run nor ends
 * it, and the run of a reported target continues with its next container, as kubelet's does.
 */
export function verdictsOf(truth: ProbeTruth, result: 'success' | 'failure'): readonly number[] {
  const times: number[] = [];
  let run: readonly number[] = [];
  const beginsMs = truth.lifecycle === 'static' ? (incarnationOf(truth)?.fromMs ?? 0) : 0;
  for (const one of truth.asked) {
    const { atMs, finding } = one;
    if (atMs < beginsMs || finding === 'denied' || finding === 'error') continue;
    if (finding !== result) {
      if (!isLost(truth, one)) run = [];
      continue;
    }
    run = [...run.filter((earlierMs) => !countersRestart(truth, earlierMs, atMs)), atMs];
    const thresholds = thresholdsAt(truth, atMs, result);
    if (run.length >= Math.min(...thresholds)) times.push(atMs);
    const isSure = run.length >= Math.max(...thresholds) && isUndisturbed(truth, run[0] ?? atMs, atMs);
    if (endsRun(truth, result) && isSure) run = [];
  }
  return times;
}

/** When (ms) it may have become known that the probe cannot be made. */
export const denialsOf = ({ asked }: ProbeTruth): readonly number[] =>
  asked.flatMap(({ finding, atMs }) => (finding === 'denied' ? atMs : []));

const isError = (finding: Finding | undefined): boolean => finding === 'error' || finding === 'denied';

/** A prober error other than a denied dial counts the second time in a row. */
export const standingErrorsOf = ({ asked }: ProbeTruth): readonly number[] =>
  asked.flatMap(({ finding, atMs }, place) => (finding === 'error' && isError(asked[place - 1]?.finding) ? atMs : []));

/** When (ms) the probe came into the spec, or back into it. */
export const returnsOf = ({ specs }: ProbeTruth): readonly number[] =>
  specs.flatMap(({ sinceMs, spec }, place) => (spec && !specs[place - 1]?.spec ? sinceMs : []));

/** The earliest time (ms) at which the present worker may exist: a probe out of the spec ends its worker. */
export const workerSinceMs = (truth: ProbeTruth): number =>
  Math.max(
    0,
    ...reignsOf(truth)
      .filter(({ spec, sinceMs, untilMs }) => !spec && untilMs <= truth.nowMs && untilMs - sinceMs > noticesMs)
      .map(({ untilMs }) => untilMs),
  );

/** From when (ms) on findings surely count for the present container, spec and holder. */
export const surelyCountsMs = (truth: ProbeTruth): number =>
  Math.max(
    (incarnationOf(truth)?.fromMs ?? 0) + noticesMs,
    (truth.specs.at(-1)?.sinceMs ?? 0) + noticesMs,
    truth.holder.sinceMs,
  );

/**
 * What is sure to have counted, and is durable by now. A verdict that was not durable when DELETE stopped its probe is
 * refused.
 */
export const surelyCounted = (truth: ProbeTruth): readonly Asked[] =>
  truth.asked.filter(
    (one) =>
      one.holder === truth.holder.number &&
      one.atMs >= surelyCountsMs(truth) &&
      one.atMs + commitsMs <= (truth.stoppedMs ?? truth.nowMs) &&
      !isLost(truth, one),
  );
