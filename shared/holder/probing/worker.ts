/**
 * One cycle of one worker: gate, probe, reduce, commit. It decides nothing: the gate and the thresholds are in core,
 * and their decisions are durable before they count.
 */
import type { ProbeReport } from '../../core/kubelet/probe-report.ts';
import { decideGate, type PodView, reduce, type Step, wouldProbe } from '../../core/kubelet/worker.ts';
import { mayTrust } from '../../core/self/health.ts';
import type { Shortage } from '../../core/self/sockets.ts';
import { productEra } from '../../core/status/observed.ts';
import { isStopped, noSpecDigest } from '../../core/status/shown.ts';
import { type ProbeOrder, probe as runProbe, type TimedAttempt } from '../../prober/probe.ts';
import type { Holder } from '../holder.ts';
import type { Run } from '../run.ts';
import type { Dialled } from '../self-check/second-place.ts';
import type { Watched } from '../self-check/self-check.ts';
import { type Committing, commitStep } from './commit.ts';
import type { CycleEnd } from './due-loop.ts';
import { type Ending, endWorker } from './end-worker.ts';
import { type Due, type HeldProbe, type HeldTarget, podView } from './held.ts';
import { quarantineOf } from './hung-probe.ts';
import { classify, refuse, serveRequests } from './probe-schedule.ts';
import { isProberFault, isStandingError, type ProbeVerdict, runningSince, seen, took } from './probe-verdict.ts';
import { leaveAlone } from './quarantine.ts';
import { askedEvent, planProberError, planStep, type Report, type StepPlan } from './step-plan.ts';

type Asking = Committing & Pick<Holder, 'self' | 'surgeLimit'>;
/** The parts of a holder that a cycle needs. */
export type Cycling = Ending & Asking;

/**
 * Runs the cycle to its end. Afterwards the worker is as committed; if the run has ended meanwhile, nothing changes.
 * The place is released before every commit, because a commit that waits for the store must not keep other probes from
 * running.
 */
export async function probeCycle(holder: Cycling, held: HeldTarget, { probe, place }: Due): Promise<CycleEnd> {
  if (probe.spec.stopping) return endWorker(holder, held, { probe, place, specDigest: noSpecDigest });
  const { verdict, spec } = probe;
  const pod = podView(held, spec.container.spec.name);
  const comesBack = verdict.record.ended;
  const gate = decideGate(spec.worker, verdict.worker, pod, gateTimeMs(holder.run, verdict, pod), productEra);
  // Once DELETE has stopped a probe, the end of its worker is all that may be committed (difference 22).
  const applied = isStopped(held.target, probe) || applyStep(holder, held, { probe, place, step: gate });
  if (applied !== true && !(await applied)) return 'over';
  switch (gate.kind) {
    case 'skip':
      // kubelet's worker waits for the container to run again, which no container of a terminating target does.
      if (gate.reason === 'NotRunning' && isStopped(held.target, probe))
        return endWorker(holder, held, { probe, place, specDigest: probe.spec.digest });
      seen(verdict, holder.run.ports.clock.nowMs());
      // A startup worker that has come back found its container started. Its return makes the container not started.
      return comesBack && gate.reason === 'Started' ? 'again' : 'over';
    case 'stop':
      return endWorker(holder, held, { probe, place, specDigest: probe.spec.digest });
    case 'probe':
      if (place.hasLeft()) return 'again';
      if (quarantineOf(held, probe)) await leaveAlone(holder, held, { probe, place });
      else return await askProber(holder, held, { probe, place });
      return 'over';
  }
}

/**
 * The time that the gate compares with the container's start, which another process set by another clock. That clock
 * may have been a day ahead, so a start in the future counts from when this run first saw the container.
 */
function gateTimeMs({ ports: { clock } }: Run, verdict: ProbeVerdict, { container }: PodView): number {
  const nowMs = clock.nowMs();
  if (container?.state?.kind !== 'running' || container.state.startedAtMs <= nowMs) return nowMs;
  const monotonicMs = clock.monotonicMs();
  return container.state.startedAtMs + monotonicMs - runningSince(verdict, container.containerID, monotonicMs);
}

async function askProber(holder: Asking, held: HeldTarget, { probe, place }: Due): Promise<CycleEnd> {
  const { clock, metrics } = holder.run.ports;
  const { verdict } = probe;
  const { digest } = probe.spec;
  const requests = probe.schedule.requestsSeen;
  const startedAt = clock.monotonicMs();
  const watched = holder.self.watch();
  const tried = await tryProbe(holder.run, { probe, place });
  const lacked = place.lacked();
  if (lacked && isPutBack(probe, tried, lacked)) {
    watched.done();
    return 'refused';
  }
  const durationMs = clock.monotonicMs() - startedAt;
  classify(probe.schedule, durationMs, probe.spec.probe.timeoutSeconds * 1000);
  const judged = believed(holder.run, held, { probe, report: tried, watched });
  const report = judged instanceof Promise ? await judged : judged;
  // When the run ends it abandons the probe: the probe is pending, and its report is void.
  if (holder.run.ended() || held.gone || probe.schedule.pending) return 'over';
  // Nor does a report count that came after the deletion of the target.
  if (isStopped(held.target, probe)) return 'over';
  const nowMs = clock.nowMs();
  metrics.observe(probe.labels, metricResult(report), durationMs / 1000);
  took(verdict, report, nowMs);
  // A report that is void because the prober doubts itself is published as an error of the prober, not of this probe.
  const isStanding = report === tried && mayTrust(holder.self.health()) && isStandingError(verdict, report);
  // A report for the old spec says nothing about the new one, whose counters have just restarted.
  if (probe.spec.digest !== digest) return 'over';
  const { conclusion } = report;
  if (conclusion.kind === 'error') {
    const plan = planProberError(probe, { report, isStanding, nowMs });
    await commitAsked(holder, held, { probe, place, plan, report, requests, nowMs });
    return 'over';
  }
  const step = reduce(probe.spec.worker, verdict.worker, conclusion.result);
  if (isHeldBack(holder, held, { probe, step })) return 'over';
  const plan = planStep(probe, step, { nowMs, report });
  await commitAsked(holder, held, { probe, place, plan, report, requests, nowMs });
  return 'over';
}

/**
 * Whether the attempt says nothing but that this machine lacked a descriptor or a port. The probe is then late, not
 * unknown. Once it had to count as an error, it is not put back again until it has had a verdict.
 */
const isPutBack = ({ schedule, verdict }: HeldProbe, report: Report, lacked: Shortage): boolean =>
  !verdict.erred && isProberFault(report) && refuse(schedule, lacked);

type Asked = Due & {
  readonly plan: StepPlan;
  readonly report: Report;
  /** Manual triggers before the probe began. */
  readonly requests: number;
  readonly nowMs: number;
};

/** Commits what the report changes, and if the probe was requested, what it found. */
async function commitAsked(holder: Committing, held: HeldTarget, asked: Asked): Promise<void> {
  const { probe, place, plan, report, requests, nowMs } = asked;
  if (requests <= probe.schedule.requestsServed) {
    await commitStep(holder, held, { probe, place, plan });
    return;
  }
  const events = [...plan.events, askedEvent(probe, report, nowMs)];
  if (await commitStep(holder, held, { probe, place, plan: { ...plan, events } }))
    serveRequests(probe.schedule, requests);
}

/** Asks the prober, and releases the place whether or not that succeeds. */
async function tryProbe({ ports }: Run, { probe, place }: Due): Promise<ProbeReport<TimedAttempt>> {
  const work = ports.attribution?.start(probe.spec.workName);
  if (work) place.attribute(work);
  try {
    return await runProbe(ports, probe.spec.order, place);
  } finally {
    work?.end();
    place.leave();
  }
}

/** The report, or a prober error if the prober itself may be at fault. The watch is then over. */
function believed(
  run: Run,
  held: HeldTarget,
  { probe, report, watched }: { probe: HeldProbe; report: ProbeReport<TimedAttempt>; watched: Watched },
): ProbeReport<TimedAttempt> | Promise<ProbeReport<TimedAttempt>> {
  const { spec, verdict } = probe;
  const { worker, record } = verdict;
  // A run of failures below the threshold continues with the next container, whose result is not failure yet.
  const counts = worker.lastResult !== 'failure' || worker.resultRun < spec.worker.failureThreshold;
  const changes = counts || record.result !== 'failure' || worker.onHold;
  const confirms = record.result === 'success' && !worker.onHold;
  const failures = worker.lastResult === 'failure' ? worker.resultRun : 0;
  const turns = record.result !== 'failure' && failures + 1 >= spec.worker.failureThreshold;
  const reach = spec.reach ?? run.ports.execReach ?? 'none';
  const dialled = spec.reach && run.ports.secondPlace && dialledBy(run, held, probe);
  const judged = watched.judge(report, { reach, changes, confirms, turns, dialled });
  if (judged instanceof Promise) return judged.finally(watched.done);
  watched.done();
  return judged;
}

const dialledBy = (run: Run, held: HeldTarget, probe: HeldProbe): Dialled => ({
  target: held.target,
  order: () => orderNow(run, held, probe),
});

/** What this worker would ask now; undefined: it would not probe, or a write may change whether it would. */
function orderNow(run: Run, held: HeldTarget, probe: HeldProbe): ProbeOrder | undefined {
  const { spec, verdict } = probe;
  if (held.gone || held.probes.get(probe.name) !== probe || spec.stopping || isStopped(held.target, probe))
    return undefined;
  if (verdict.isCommitting || verdict.record.ended || quarantineOf(held, probe)) return undefined;
  const pod = podView(held, spec.container.spec.name);
  const nowMs = gateTimeMs(run, verdict, pod);
  return wouldProbe(spec.worker, verdict.worker, pod, nowMs, productEra) ? spec.order : undefined;
}

/**
 * Whether this failure would turn its target unhealthy while too many others turn. The target still counts as seen.
 * Only its run of failures stays one short of the threshold, so that the next probe asks again.
 */
function isHeldBack(
  { surgeLimit, targets }: Pick<Holder, 'surgeLimit' | 'targets'>,
  held: HeldTarget,
  { probe, step }: { readonly probe: HeldProbe; readonly step: Step },
): boolean {
  const turns =
    probe.verdict.record.result !== 'failure' &&
    step.actions.some((action) => action.kind === 'set' && action.result === 'failure');
  if (!turns) return false;
  const periodMs = probe.spec.probe.periodSeconds * 1_000;
  return !surgeLimit.ask({ target: held.address.prefix, periodMs, targets: targets.size });
}

/** kubelet's words for the metric. A prober error is unknown, whatever the attempts gave. */
function metricResult({ conclusion }: ProbeReport): 'successful' | 'failed' | 'unknown' {
  if (conclusion.kind === 'error') return 'unknown';
  return conclusion.result === 'success' ? 'successful' : 'failed';
}

type Applied = Due & { readonly step: Step };

/** Carries out the decision of the gate. Returns false if the commit failed; the cycle is then over. */
export function applyStep(
  holder: Committing,
  held: HeldTarget,
  { probe, place, step }: Applied,
): boolean | Promise<boolean> {
  const plan = planStep(probe, step, { nowMs: holder.run.ports.clock.nowMs() });
  return commitStep(holder, held, { probe, place, plan });
}
