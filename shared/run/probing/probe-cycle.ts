/**
 * One cycle of one worker: gate, probe, reduce, commit. It decides nothing: the gate and the thresholds are core's, and what they say
 * is durable before it counts.
 */

import { dialledHost } from '../../core/handlers.ts';
import { productEra } from '../../core/observed.ts';
import { type ProbeReport, reportOf } from '../../core/probe-report.ts';
import type { EventRecord, ProbeRecord, ProbeUnknown } from '../../core/records.ts';
import { mannersAfter } from '../../core/room.ts';
import { mayTrust, type Reach, reachOf } from '../../core/self-health.ts';
import { noSpecDigest } from '../../core/shown.ts';
import { decideGate, type PodView, reduce, type Step, type Worker } from '../../core/worker.ts';
import { probe as runProbe, type TimedAttempt } from '../../prober/probe.ts';
import { outputOf } from '../../prober/stored-output.ts';
import type { Holder } from '../holder.ts';
import type { Watched } from '../self-check/verdict.ts';
import { commitEvents, commitRecord } from './commit-probe.ts';
import type { CycleEnd } from './due-loop.ts';
import { type HeldProbe, type HeldTarget, podView } from './held-target.ts';
import { hungProbeName, quarantineOf } from './hung-probe.ts';
import { ownTrouble, rationed, recordedEvent } from './probe-events.ts';
import type { Place } from './sockets.ts';
import { begunAnew, endedRecord, mustCommit, withAction, withAttempts, withUnknown, withWorker } from './transition.ts';

/** A probe that is due, with its place among the sockets. */
export type Due = { readonly probe: HeldProbe; readonly place: Place };

/**
 * Runs the cycle to its end; afterwards the worker is as committed. A run that ended meanwhile leaves everything as it was. The place is
 * left before every commit: what waits for the store must not keep others from probing.
 */
export async function probeCycle(holder: Holder, held: HeldTarget, { probe, place }: Due): Promise<CycleEnd> {
  if (probe.stopping) return endWorker(holder, held, { probe, place, specDigest: noSpecDigest });
  const pod = podView(held, probe.container.spec.name);
  const comesBack = probe.record.ended;
  const gate = decideGate(probe.workerSpec, probe.worker, pod, gateTimeMs(holder, probe, pod), productEra);
  if (!(await applyStep(holder, held, { probe, place, step: gate }))) return 'over';
  switch (gate.kind) {
    case 'skip':
      probe.seenAtMs = holder.run.ports.clock.nowMs();
      // A startup worker that has come back finds its container started; now that it is there, the container is not.
      return comesBack && gate.reason === 'Started' ? 'again' : 'over';
    case 'stop':
      return endWorker(holder, held, { probe, place, specDigest: probe.specDigest });
    case 'probe':
      if (place.hasLeft()) return 'again';
      if (quarantineOf(held, probe)) return leaveAlone(holder, held, { probe, place });
      await askProber(holder, held, { probe, place });
      return 'over';
  }
}

/**
 * Another process set the start by its own clock. A start in the future is counted from when this run first saw the container: the clock
 * that set it may have been ahead by a day.
 */
function gateTimeMs({ run }: Holder, probe: HeldProbe, { container }: PodView): number {
  const { clock } = run.ports;
  const nowMs = clock.nowMs();
  if (container?.state?.kind !== 'running' || container.state.startedAtMs <= nowMs) return nowMs;
  const { containerID } = container;
  if (probe.runningSeen?.containerID !== containerID) probe.runningSeen = { containerID, atMs: clock.monotonicMs() };
  return container.state.startedAtMs + clock.monotonicMs() - probe.runningSeen.atMs;
}

async function askProber(holder: Holder, held: HeldTarget, { probe, place }: Due): Promise<void> {
  const { clock, probers, metrics, attribution } = holder.run.ports;
  const startedAt = clock.monotonicMs();
  const watched = holder.self.watch();
  const { specDigest } = probe;
  const { namespace, name, uid, spec } = held.target;
  const work = attribution?.start(hungProbeName(held.target, probe));
  const tried = await runProbe(
    { probers, clock },
    {
      target: { namespace, name, uid },
      host: spec.host,
      container: probe.container.spec,
      handler: probe.spec,
      probeType: probe.probeType,
      containerKind: probe.container.kind,
      permit: work ? { closing: place.closing, opened: place.opened, resumes: work.resumes } : place,
    },
  ).finally(() => {
    work?.end();
    place.leave();
  });
  const durationMs = clock.monotonicMs() - startedAt;
  probe.manners = mannersAfter(durationMs, probe.spec.timeoutSeconds * 1000);
  const report = await believed(holder, held, { probe, report: tried, watched }).finally(watched.done);
  // Abandoned at the end of the run, it is owed, and what it says is void.
  if (holder.run.ended() || held.gone || probe.owed) return;
  metrics.observe(probe.labels, metricResult(report), durationMs / 1000);
  probe.isVoid = isOwnTrouble(report);
  if (!probe.isVoid) probe.seenAtMs = clock.nowMs();
  const isStanding = isStandingError(holder, probe, { report, isVoided: report !== tried });
  // What was asked by another spec says nothing about this one, whose counters have just begun.
  if (probe.specDigest !== specDigest) return;
  if (report.conclusion.kind === 'error') return tellError(holder, held, { probe, report, isStanding });
  const step = reduce(probe.workerSpec, probe.worker, report.conclusion.result);
  if (isHeldBack(holder, held, { probe, step })) return;
  await applyStep(holder, held, { probe, place, step, report });
}

type Believing = {
  readonly probe: HeldProbe;
  readonly report: ProbeReport<TimedAttempt>;
  readonly watched: Watched;
};

/** The report, or a prober error where it may be the prober's own doing. */
function believed(
  holder: Holder,
  held: HeldTarget,
  { probe, report, watched }: Believing,
): Promise<ProbeReport<TimedAttempt>> {
  const { worker, record, spec, workerSpec } = probe;
  // A run below the threshold goes on with the next container, whose result is not failure yet.
  const counts = worker.lastResult !== 'failure' || worker.resultRun < workerSpec.failureThreshold;
  const changes = counts || record.result !== 'failure' || worker.onHold;
  const confirms = record.result === 'success' && !worker.onHold;
  const reach = reachOfProbe(holder, spec, held.target.spec.host);
  return watched.judge(report, { reach, changes, confirms });
}

type Turning = { readonly probe: HeldProbe; readonly step: Step };

/**
 * Whether this failure would turn its target unhealthy while too many others turn. The target has been seen all the same; only its run of
 * failures stays one short of the threshold, so that the next probe asks again.
 */
function isHeldBack(holder: Holder, held: HeldTarget, { probe, step }: Turning): boolean {
  const turns =
    probe.record.result !== 'failure' &&
    step.actions.some((action) => action.kind === 'set' && action.result === 'failure');
  if (!turns) return false;
  const periodMs = probe.spec.periodSeconds * 1_000;
  return !holder.velocity.ask({ target: held.address.prefix, periodMs, targets: holder.targets.size });
}

function reachOfProbe({ run }: Holder, probe: HeldProbe['spec'], host: string): Reach {
  const dialled = dialledHost(probe, host);
  return dialled === undefined ? (run.ports.execReach ?? 'none') : reachOf(dialled);
}

type Asked = { readonly report: ProbeReport; readonly isVoided: boolean };

/** The second error in a row of a prober that is sure of itself. What is void in doubt is told as the prober's. */
function isStandingError({ self }: Holder, probe: HeldProbe, { report, isVoided }: Asked): boolean {
  if (isVoided || !mayTrust(self.health())) return false;
  const erredBefore = probe.erred;
  probe.erred = report.conclusion.kind === 'error';
  return erredBefore && probe.erred;
}

/** Nothing was seen of the target. */
const isOwnTrouble = ({ conclusion }: ProbeReport): boolean =>
  conclusion.kind === 'error' && conclusion.failureClass === 'PROBER';

/** kubelet's words for the metric: a prober error is unknown, whatever the attempts said. */
function metricResult({ conclusion }: ProbeReport): 'successful' | 'failed' | 'unknown' {
  if (conclusion.kind === 'error') return 'unknown';
  return conclusion.result === 'success' ? 'successful' : 'failed';
}

type Applied = Due & { readonly step: Step; readonly report?: ProbeReport<TimedAttempt> };

/** Makes durable what the step changed and publishes it; false: the commit did not go through and the cycle is over. */
export async function applyStep(
  holder: Holder,
  held: HeldTarget,
  { probe, place, step, report }: Applied,
): Promise<boolean> {
  const nowMs = holder.run.ports.clock.nowMs();
  if (report) countAttempts(probe, step.worker, report);
  const told = eventsOf(probe, report, nowMs);
  const after = changedRecord(probe, step, { nowMs, ...(report && { report }) });
  if (!after) {
    probe.worker = step.worker;
    return told.length === 0 || commitEvents(holder, held, probe, told);
  }
  place.leave();
  const attempts = report ? probe.attempts : [];
  if (!(await commitRecord(holder, held, { probe, after, told, attempts }))) return false;
  probe.worker = step.worker;
  return true;
}

/** A hold ends a run as another result does: what the next container does is told anew and has its own attempts behind it. */
function countAttempts(probe: HeldProbe, next: Worker, report: ProbeReport<TimedAttempt>): void {
  const sameRun = next.lastResult === probe.worker.lastResult && probe.worker.resultRun > 0;
  if (!sameRun) probe.ration = undefined;
  probe.attempts = withAttempts(probe.attempts, sameRun, report.attempts);
}

/**
 * The record to commit, if something of it has to be durable. It carries the worker's state: a hold left behind by the old container would
 * keep the new one from ever being probed.
 */
function changedRecord(
  probe: HeldProbe,
  step: Step,
  { nowMs, report }: { readonly nowMs: number; readonly report?: ProbeReport<TimedAttempt> },
): ProbeRecord | undefined {
  const acted = step.actions.reduce(
    (record, action) => withAction(record, action, nowMs),
    withWorker(begunAnew(probe.record, nowMs), step.worker, probe),
  );
  const after = withReport(acted, probe.record, report);
  return mustCommit(probe.record, after) ? after : undefined;
}

/** Output and class are those of the probe that gave the result: they stay until the result changes. */
function withReport(
  record: ProbeRecord,
  before: ProbeRecord,
  report: ProbeReport<TimedAttempt> | undefined,
): ProbeRecord {
  const attempt = report?.attempts.at(-1);
  if (!attempt) return record;
  const timed = { ...record, lastProbeTimeMs: attempt.timeMs };
  if (record.version === before.version) return timed;
  const { failureClass } = attempt;
  return { ...timed, output: outputOf(attempt), ...(failureClass && { failureClass }) };
}

function eventsOf(
  probe: HeldProbe,
  report: ProbeReport<TimedAttempt> | undefined,
  nowMs: number,
): readonly EventRecord[] {
  if (!report) return [];
  if (!report.event) {
    probe.ration = undefined;
    return [];
  }
  const { tell: told, count, ration } = rationed(probe.ration, report.event, nowMs);
  probe.ration = ration;
  return told ? [recordedEvent({ probe, event: report.event, count, attempts: report.attempts, nowMs })] : [];
}

/** A probe that has hung the prober is not made. It is a prober error of which no prober knows, so there is nothing to examine. */
async function leaveAlone(holder: Holder, held: HeldTarget, { probe, place }: Due): Promise<CycleEnd> {
  place.leave();
  const { detail = '', hungAtMs = 0 } = quarantineOf(held, probe) ?? {};
  const timeMs = holder.run.ports.clock.nowMs();
  const attempt = { outcome: 'unknown', output: '', error: detail, failureClass: 'PROBER' } as const;
  const { probeType, container } = probe;
  const reported = { probeType, containerKind: container.kind, container: container.spec.name };
  const report = reportOf([{ ...attempt, timeMs, timings: { totalMs: 0 } }], reported);
  const isStanding = probe.erred;
  probe.isVoid = true;
  probe.erred = true;
  probe.seenAtMs = Math.min(probe.seenAtMs, hungAtMs);
  holder.run.ports.metrics.observe(probe.labels, 'unknown', 0);
  await tellError(holder, held, { probe, report, isStanding });
  return 'over';
}

type Erring = { readonly probe: HeldProbe; readonly report: ProbeReport<TimedAttempt>; readonly isStanding: boolean };

/**
 * A prober error moves no counter. A denied dial at once, any other error once it stands, makes the shown result unknown until the next
 * verdict.
 */
async function tellError(holder: Holder, held: HeldTarget, { probe, report, isStanding }: Erring): Promise<void> {
  const nowMs = holder.run.ports.clock.nowMs();
  const { conclusion } = report;
  if (conclusion.kind !== 'error') return;
  const { failureClass = 'PROBER', error } = conclusion;
  const isDenied = failureClass === 'POLICY_DENIED';
  const isQuiet = isStanding && (isDenied || failureClass === 'PROBER');
  const told = isQuiet ? ownTrouble(probe, error, nowMs) : eventsOf(probe, report, nowMs);
  const reason = isDenied ? 'PolicyDenied' : 'ProberError';
  const unknown: ProbeUnknown = { reason, failureClass, message: error };
  const after = isDenied || isStanding ? withUnknown(probe.record, unknown, nowMs) : probe.record;
  if (after !== probe.record) await commitRecord(holder, held, { probe, after, told, attempts: report.attempts });
  else if (told.length > 0) await commitEvents(holder, held, probe, told);
}

/** Ends the worker: its cached result and its series go, the item stays and says so. */
async function endWorker(
  holder: Holder,
  held: HeldTarget,
  { probe, place, specDigest }: Due & { readonly specDigest: string },
): Promise<CycleEnd> {
  place.leave();
  const after = endedRecord(probe.record, holder.run.ports.clock.nowMs(), specDigest);
  if (!(await commitRecord(holder, held, { probe, after, told: [], attempts: [] }))) return 'over';
  held.probes.delete(probe.name);
  holder.run.ports.metrics.remove(probe.labels);
  // While it ended its probe may have come back into the spec, or its container with another ID.
  await holder.reread([held]);
  return 'over';
}
