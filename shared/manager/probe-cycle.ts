/**
 * One cycle of one worker: gate, probe, reduce, commit. It decides nothing: the gate and the thresholds are core's, and what they say
 * is durable before it counts.
 */
import { productEra } from '../core/observed.ts';
import type { ProbeReport } from '../core/probe-report.ts';
import type { EventRecord, ProbeRecord } from '../core/records.ts';
import { mannersAfter } from '../core/room.ts';
import { type Reach, reachOf, voided } from '../core/self-health.ts';
import { decideGate, type PodView, reduce, type Step, type Worker } from '../core/worker.ts';
import { probe as runProbe, type TimedAttempt } from '../prober/probe.ts';
import { outputOf } from '../prober/stored-output.ts';
import { commitEvents, commitRecord } from './commit-change.ts';
import { type HeldProbe, type HeldTarget, podView } from './held.ts';
import type { Holder } from './holder.ts';
import { ownTrouble } from './own-trouble.ts';
import { rationed, recordedEvent } from './probe-events.ts';
import type { Watched } from './self-health.ts';
import { endedRecord, isDenied, mustCommit, withAction, withAttempts, withWorker } from './transition.ts';

/** Runs the cycle to its end; afterwards the worker is as committed. A run that ended meanwhile leaves everything as it was. */
export async function probeCycle(holder: Holder, held: HeldTarget, probe: HeldProbe): Promise<void> {
  if (probe.stopping) return endWorker(holder, held, probe, '');
  const pod = podView(held, probe.container.spec.name);
  const gate = decideGate(probe.workerSpec, probe.worker, pod, gateTimeMs(holder, pod), productEra);
  if (!(await applyStep(holder, held, { probe, step: gate }))) return;
  switch (gate.kind) {
    case 'skip':
      probe.seenAtMs = holder.run.ports.clock.nowMs();
      return;
    case 'stop':
      return endWorker(holder, held, probe, probe.specDigest);
    case 'probe':
      return askProber(holder, held, probe);
  }
}

/** Whose clock set the start is not known: a start in the future counts as now. */
function gateTimeMs(holder: Holder, { container }: PodView): number {
  const nowMs = holder.run.ports.clock.nowMs();
  return container?.state?.kind === 'running' ? Math.max(nowMs, container.state.startedAtMs) : nowMs;
}

async function askProber(holder: Holder, held: HeldTarget, probe: HeldProbe): Promise<void> {
  const { clock, probers, metrics } = holder.run.ports;
  const startedAt = clock.monotonicMs();
  const watched = holder.self.watch();
  const { specDigest } = probe;
  const { namespace, name, uid, spec } = held.target;
  const tried = await runProbe(
    { probers, clock },
    {
      target: { namespace, name, uid },
      host: spec.host,
      container: probe.container.spec,
      handler: probe.spec,
      probeType: probe.probeType,
      containerKind: probe.container.kind,
    },
  );
  const durationMs = clock.monotonicMs() - startedAt;
  probe.manners = mannersAfter(durationMs, probe.spec.timeoutSeconds * 1000);
  const report = await believed(holder, held, { probe, report: tried, watched }).finally(watched.done);
  // Abandoned at the end of the run, it is owed, and what it says is void.
  if (holder.run.ended() || held.gone || probe.owed) return;
  metrics.observe(probe.labels, metricResult(report), durationMs / 1000);
  // Not what was made void in doubt: that the prober tells of itself.
  const isStanding = probe.isVoid && report === tried && isOwnTrouble(report);
  probe.isVoid = isOwnTrouble(report);
  if (!probe.isVoid) probe.seenAtMs = clock.nowMs();
  // What was asked by another spec says nothing about this one, whose counters have just begun.
  if (probe.specDigest !== specDigest) return;
  if (report.conclusion.kind === 'error') return tellError(holder, held, { probe, report, isStanding });
  const step = reduce(probe.workerSpec, probe.worker, report.conclusion.result);
  await applyStep(holder, held, { probe, step, report });
}

type Believing = {
  readonly probe: HeldProbe;
  readonly report: ProbeReport<TimedAttempt>;
  readonly watched: Watched;
};

/** The report, or a prober error where it may be the prober's own doing, or where too many targets turn at once for it to count now. */
async function believed(
  holder: Holder,
  held: HeldTarget,
  { probe, report, watched }: Believing,
): Promise<ProbeReport<TimedAttempt>> {
  const { worker, record, spec } = probe;
  const changes = worker.lastResult !== 'failure' || record.result !== 'failure' || worker.onHold;
  const confirms = record.result === 'success' && !worker.onHold;
  const reach = reachOfProbe(holder, spec, held.target.spec.host);
  const judged = await watched.judge(report, { reach, changes, confirms });
  if (judged.conclusion.kind === 'error' || judged.conclusion.result !== 'failure') return judged;
  const step = reduce(probe.workerSpec, worker, 'failure');
  const turns = record.result !== 'failure' && step.actions.length > 0;
  if (!turns || holder.velocity.ask(held.address.prefix, holder.targets.size)) return judged;
  return voided(judged, 'too many targets turn unhealthy at once');
}

function reachOfProbe({ run }: Holder, { exec, httpGet, tcpSocket }: HeldProbe['spec'], host: string): Reach {
  return exec ? (run.ports.execReach ?? 'none') : reachOf(httpGet?.host ?? tcpSocket?.host ?? host);
}

/** Nothing was seen of the target. */
const isOwnTrouble = ({ conclusion }: ProbeReport): boolean =>
  conclusion.kind === 'error' && conclusion.failureClass === 'PROBER';

/** kubelet's words for the metric: a prober error is unknown, whatever the attempts said. */
function metricResult({ conclusion }: ProbeReport): 'successful' | 'failed' | 'unknown' {
  if (conclusion.kind === 'error') return 'unknown';
  return conclusion.result === 'success' ? 'successful' : 'failed';
}

type Applied = { readonly probe: HeldProbe; readonly step: Step; readonly report?: ProbeReport<TimedAttempt> };

/** Makes durable what the step changed and tells of it; false: the commit did not go through and the cycle is over. */
async function applyStep(holder: Holder, held: HeldTarget, { probe, step, report }: Applied): Promise<boolean> {
  const nowMs = holder.run.ports.clock.nowMs();
  if (report) countAttempts(probe, step.worker, report);
  const told = eventsOf(probe, report, nowMs);
  const records = changedRecords(probe, step, { nowMs, ...(report && { report }) });
  const last = records.at(-1);
  if (!last) {
    probe.worker = step.worker;
    return told.length === 0 || commitEvents(holder, held, probe, told);
  }
  for (const after of records) {
    const committed = await commitRecord(holder, held, {
      probe,
      after,
      told: after === last ? told : [],
      attempts: report ? probe.attempts : [],
    });
    if (!committed) return false;
  }
  probe.worker = step.worker;
  return true;
}

/** A hold ends a run as another result does: what the next container does is told anew and has its own attempts behind it. */
function countAttempts(probe: HeldProbe, next: Worker, report: ProbeReport<TimedAttempt>): void {
  const sameRun = next.lastResult === probe.worker.lastResult && probe.worker.resultRun > 0;
  if (!sameRun) probe.ration = undefined;
  probe.attempts = withAttempts(probe.attempts, sameRun, report.attempts);
}

/** The records to commit one after the other: one for each change of the results cache, the last with the worker's state. */
function changedRecords(
  probe: HeldProbe,
  step: Step,
  now: { readonly nowMs: number; readonly report?: ProbeReport<TimedAttempt> },
): readonly ProbeRecord[] {
  const versions: ProbeRecord[] = [];
  let record = probe.record;
  for (const action of step.actions) {
    const next = withAction(record, action, now.nowMs);
    if (next !== record) versions.push(withoutReport(next, true));
    record = next;
  }
  const told = now.report ? withReport(record, now.report) : withoutReport(record, record !== probe.record);
  const last = withWorker(told, step.worker, probe);
  return mustCommit(probe.record, last) ? [...versions.slice(0, -1), last] : [];
}

/** A result that no probe gave (a new container, one that does not run) carries none of the old one's output. */
function withoutReport(record: ProbeRecord, changed: boolean): ProbeRecord {
  if (!changed) return record;
  const { failureClass: _, ...rest } = record;
  return { ...rest, output: '' };
}

function withReport(record: ProbeRecord, report: ProbeReport<TimedAttempt> | undefined): ProbeRecord {
  const attempt = report?.attempts.at(-1);
  if (!attempt) return record;
  const { failureClass: _, ...rest } = record;
  return {
    ...rest,
    output: outputOf(attempt),
    lastProbeTimeMs: attempt.timeMs,
    ...(attempt.failureClass && { failureClass: attempt.failureClass }),
  };
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

type Erring = { readonly probe: HeldProbe; readonly report: ProbeReport<TimedAttempt>; readonly isStanding: boolean };

/** A prober error moves no counter. A denied dial stays visible in the item until a probe gets through. */
async function tellError(holder: Holder, held: HeldTarget, { probe, report, isStanding }: Erring): Promise<void> {
  const nowMs = holder.run.ports.clock.nowMs();
  const { conclusion } = report;
  const error = isStanding && conclusion.kind === 'error' ? conclusion.error : undefined;
  const told = error === undefined ? eventsOf(probe, report, nowMs) : ownTrouble(probe, error, nowMs);
  const after = withReport(probe.record, report);
  if (isDenied(after) && !isDenied(probe.record))
    await commitRecord(holder, held, { probe, after, told, attempts: report.attempts });
  else if (told.length > 0) await commitEvents(holder, held, probe, told);
}

/** Ends the worker: its cached result and its series go, the item stays and says so. */
async function endWorker(holder: Holder, held: HeldTarget, probe: HeldProbe, specDigest: string): Promise<void> {
  const after = endedRecord(probe.record, holder.run.ports.clock.nowMs(), specDigest);
  if (!(await commitRecord(holder, held, { probe, after, told: [], attempts: [] }))) return;
  held.probes.delete(probe.name);
  holder.run.ports.metrics.remove(probe.labels);
  // While it ended its probe may have come back into the spec, or its container with another ID.
  await holder.reread(held);
}
