/**
 * One cycle of one worker: gate, probe, reduce, commit. It decides nothing: the gate and the thresholds are core's, and what they say
 * is durable before it counts.
 */
import { dialledHost } from '../../core/handlers.ts';
import { productEra } from '../../core/observed.ts';
import type { ProbeReport } from '../../core/probe-report.ts';
import { mayTrust, type Reach, reachOf } from '../../core/self-health.ts';
import { noSpecDigest } from '../../core/shown.ts';
import { decideGate, type PodView, reduce, type Step } from '../../core/worker.ts';
import { probe as runProbe, type TimedAttempt } from '../../prober/probe.ts';
import type { Holder } from '../holder.ts';
import type { Run } from '../run.ts';
import type { Watched } from '../self-check/verdict.ts';
import { type Committing, commitStep } from './commit-probe.ts';
import type { CycleEnd } from './due-loop.ts';
import { type HeldProbe, type HeldTarget, podView } from './held-target.ts';
import { hungProbeName, quarantineOf } from './hung-probe.ts';
import { planEnd, planProberError, planStep, quarantineReport, type StepPlan } from './plan-step.ts';
import { classify } from './probe-schedule.ts';
import { isStandingError, leftAlone, type ProbeVerdict, runningSince, seen, took } from './probe-verdict.ts';
import type { Place } from './sockets.ts';

type Ending = Committing & Pick<Holder, 'reread'>;
type Asking = Committing & Pick<Holder, 'self' | 'surgeLimit'>;
/** What a cycle needs of a holder. */
export type Cycling = Ending & Asking;

/** A probe that is due, with its place in the socket budget. */
export type Due = { readonly probe: HeldProbe; readonly place: Place };

/**
 * Runs the cycle to its end; afterwards the worker is as committed. A run that ended meanwhile leaves everything as it was. The place is
 * given back before every commit: a commit that waits for the store must not keep other probes from running.
 */
export async function probeCycle(holder: Cycling, held: HeldTarget, { probe, place }: Due): Promise<CycleEnd> {
  if (probe.spec.stopping) return endWorker(holder, held, { probe, place, specDigest: noSpecDigest });
  const { verdict, spec } = probe;
  const pod = podView(held, spec.container.spec.name);
  const comesBack = verdict.record.ended;
  const gate = decideGate(spec.worker, verdict.worker, pod, gateTimeMs(holder.run, verdict, pod), productEra);
  if (!(await applyStep(holder, held, { probe, place, step: gate }))) return 'over';
  switch (gate.kind) {
    case 'skip':
      seen(verdict, holder.run.ports.clock.nowMs());
      // A startup worker that has come back finds its container started; now that it is there, the container is not.
      return comesBack && gate.reason === 'Started' ? 'again' : 'over';
    case 'stop':
      return endWorker(holder, held, { probe, place, specDigest: probe.spec.digest });
    case 'probe':
      if (place.hasLeft()) return 'again';
      if (quarantineOf(held, probe)) await leaveAlone(holder, held, { probe, place });
      else await askProber(holder, held, { probe, place });
      return 'over';
  }
}

/**
 * Another process set the start by its own clock. A start in the future is counted from when this run first saw the container: the clock
 * that set it may have been ahead by a day.
 */
function gateTimeMs({ ports: { clock } }: Run, verdict: ProbeVerdict, { container }: PodView): number {
  const nowMs = clock.nowMs();
  if (container?.state?.kind !== 'running' || container.state.startedAtMs <= nowMs) return nowMs;
  const monotonicMs = clock.monotonicMs();
  return container.state.startedAtMs + monotonicMs - runningSince(verdict, container.containerID, monotonicMs);
}

async function askProber(holder: Asking, held: HeldTarget, { probe, place }: Due): Promise<void> {
  const { clock, metrics } = holder.run.ports;
  const { verdict } = probe;
  const { digest } = probe.spec;
  const startedAt = clock.monotonicMs();
  const watched = holder.self.watch();
  const tried = await tryProbe(holder.run, held, { probe, place });
  const durationMs = clock.monotonicMs() - startedAt;
  classify(probe.schedule, durationMs, probe.spec.probe.timeoutSeconds * 1000);
  const report = await believed(holder.run, held, { probe, report: tried, watched }).finally(watched.done);
  // The run's end has abandoned the probe: it is pending, and its report is void.
  if (holder.run.ended() || held.gone || probe.schedule.pending) return;
  const nowMs = clock.nowMs();
  metrics.observe(probe.labels, metricResult(report), durationMs / 1000);
  took(verdict, report, nowMs);
  // What is void in doubt is published as the prober's error.
  const isStanding = report === tried && mayTrust(holder.self.health()) && isStandingError(verdict, report);
  // A report of another spec says nothing about this one, whose counters have just begun.
  if (probe.spec.digest !== digest) return;
  const { conclusion } = report;
  if (conclusion.kind === 'error') {
    const plan = planProberError(probe, { report, isStanding, nowMs });
    await commitPlan(holder, held, { probe, place, plan });
    return;
  }
  const step = reduce(probe.spec.worker, verdict.worker, conclusion.result);
  if (!isHeldBack(holder, held, { probe, step })) await applyStep(holder, held, { probe, place, step, report });
}

/** Asks the prober. Gives the place back, however that ends. */
function tryProbe({ ports }: Run, held: HeldTarget, { probe, place }: Due): Promise<ProbeReport<TimedAttempt>> {
  const { clock, probers, attribution } = ports;
  const { namespace, name, uid, spec } = held.target;
  const { container, probe: handler } = probe.spec;
  const work = attribution?.start(hungProbeName(held.target, probe));
  const permit = work ? { closing: place.closing, opened: place.opened, resumes: work.resumes } : place;
  const asked = {
    target: { namespace, name, uid },
    host: spec.host,
    container: container.spec,
    handler,
    probeType: probe.probeType,
    containerKind: container.kind,
    permit,
  };
  return runProbe({ probers, clock }, asked).finally(() => {
    work?.end();
    place.leave();
  });
}

type Believing = {
  readonly probe: HeldProbe;
  readonly report: ProbeReport<TimedAttempt>;
  readonly watched: Watched;
};

/** The report, or a prober error where the prober itself may be at fault. */
function believed(
  { ports }: Run,
  held: HeldTarget,
  { probe, report, watched }: Believing,
): Promise<ProbeReport<TimedAttempt>> {
  const { spec, verdict } = probe;
  const { worker, record } = verdict;
  // A run below the threshold goes on with the next container, whose result is not failure yet.
  const counts = worker.lastResult !== 'failure' || worker.resultRun < spec.worker.failureThreshold;
  const changes = counts || record.result !== 'failure' || worker.onHold;
  const confirms = record.result === 'success' && !worker.onHold;
  const dialled = dialledHost(spec.probe, held.target.spec.host);
  const reach: Reach = dialled === undefined ? (ports.execReach ?? 'none') : reachOf(dialled);
  return watched.judge(report, { reach, changes, confirms });
}

type Turning = { readonly probe: HeldProbe; readonly step: Step };

/**
 * Whether this failure would turn its target unhealthy while too many others turn. The target has been seen all the same; only its run of
 * failures stays one short of the threshold, so that the next probe asks again.
 */
function isHeldBack(
  { surgeLimit, targets }: Pick<Holder, 'surgeLimit' | 'targets'>,
  held: HeldTarget,
  { probe, step }: Turning,
): boolean {
  const turns =
    probe.verdict.record.result !== 'failure' &&
    step.actions.some((action) => action.kind === 'set' && action.result === 'failure');
  if (!turns) return false;
  const periodMs = probe.spec.probe.periodSeconds * 1_000;
  return !surgeLimit.ask({ target: held.address.prefix, periodMs, targets: targets.size });
}

/** kubelet's words for the metric: a prober error is unknown, whatever the attempts said. */
function metricResult({ conclusion }: ProbeReport): 'successful' | 'failed' | 'unknown' {
  if (conclusion.kind === 'error') return 'unknown';
  return conclusion.result === 'success' ? 'successful' : 'failed';
}

type Applied = Due & { readonly step: Step; readonly report?: ProbeReport<TimedAttempt> };

/** Carries out what the gate or a verdict decided; false: the commit did not go through and the cycle is over. */
export function applyStep(
  holder: Committing,
  held: HeldTarget,
  { probe, place, step, report }: Applied,
): Promise<boolean> {
  const nowMs = holder.run.ports.clock.nowMs();
  const plan = planStep(probe, step, { nowMs, ...(report && { report }) });
  return commitPlan(holder, held, { probe, place, plan });
}

/** Gives the place back before a commit that others could wait for. */
function commitPlan(
  holder: Committing,
  held: HeldTarget,
  { probe, place, plan }: Due & { readonly plan: StepPlan },
): Promise<boolean> {
  if (plan.after) place.leave();
  return commitStep(holder, held, { probe, plan });
}

/** A probe that has hung the prober is not made: it is a prober error. */
async function leaveAlone(holder: Committing, held: HeldTarget, { probe, place }: Due): Promise<void> {
  const { clock, metrics } = holder.run.ports;
  const { detail = '', hungAtMs = 0 } = quarantineOf(held, probe) ?? {};
  const nowMs = clock.nowMs();
  const isStanding = probe.verdict.erred;
  const report = quarantineReport(probe, detail, nowMs);
  place.leave();
  leftAlone(probe.verdict, hungAtMs);
  metrics.observe(probe.labels, 'unknown', 0);
  await commitStep(holder, held, { probe, plan: planProberError(probe, { report, isStanding, nowMs }) });
}

/** Ends the worker: its cached result and its series go; the item stays and says so. */
async function endWorker(
  holder: Ending,
  held: HeldTarget,
  { probe, place, specDigest }: Due & { readonly specDigest: string },
): Promise<CycleEnd> {
  const plan = planEnd(probe, holder.run.ports.clock.nowMs(), specDigest);
  if (!(await commitPlan(holder, held, { probe, place, plan }))) return 'over';
  held.probes.delete(probe.name);
  holder.run.ports.metrics.remove(probe.labels);
  // While it ended its probe may have come back into the spec, or its container with another ID.
  await holder.reread([held]);
  return 'over';
}
