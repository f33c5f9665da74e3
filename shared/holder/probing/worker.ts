/**
 * A target as its holder has it in memory, and its workers. A worker probes one container for one probe type, as
 * kubelet's does (pkg/kubelet/prober/worker.go).
 *
 * In kubelet one body looks at the pod, probes, counts and stores. Here each of its steps may turn out to count for
 * nothing: while the probe is under way the shard may pass to another process, the target may go, its spec may change,
 * and what fails may be this machine. And a threshold must not be met by results that another process has counted once
 * already, so whatever breaks a run of equal results has to be durable before it counts.
 *
 * So a cycle is a gate, an attempt, a judgment and a conclusion. `decideGate` and `reduce` of core/kubelet/worker.ts
 * decide. What a crash may lose, the length of a run below its threshold, stays in memory alone; everything else
 * becomes durable by `write`, the only way to a commit, and is remembered, published and logged only after that. The
 * place in the socket budget is released before any commit.
 */
import type { BusEvent } from '../../bus/events.ts';
import type { ProbeReport } from '../../core/kubelet/probe-report.ts';
import {
  dueMs,
  holdTick,
  holdTrigger,
  passTime,
  plannedTicker,
  restTicker,
  shiftTicker,
  spaceOut,
  type Ticker,
  takeWake,
} from '../../core/kubelet/ticker.ts';
import { decideGate, type Gate, type PodView, reduce, type Step, wouldProbe } from '../../core/kubelet/worker.ts';
import { mayTrust } from '../../core/self/health.ts';
import { type BacklogClass, backlogClassAfter, type Shortage } from '../../core/self/sockets.ts';
import type {
  EventRecord,
  HangRecord,
  ProbeRecord,
  ReportRecord,
  StatusRecord,
  TargetRecord,
  TargetState,
} from '../../core/spec/records.ts';
import type { ProbeName, SpecProbe } from '../../core/spec/spec.ts';
import type { ContainerStatus, ProbeType } from '../../core/spec/types.ts';
import { spend } from '../../core/status/history-budget.ts';
import { type Observed, observe, productEra } from '../../core/status/observed.ts';
import { isStopped, noSpecDigest, publishedResult } from '../../core/status/shown.ts';
import { type BagItem, inNoBag } from '../../lib/bag.ts';
import type { HeapItem } from '../../lib/heap.ts';
import type { Log } from '../../lib/log.ts';
import type { ProbeMetricLabels } from '../../prober/metrics.ts';
import { type ProbeOrder, probe as runProbe, type TimedAttempt } from '../../prober/probe.ts';
import { isAcked } from '../../status-sync/sync.ts';
import type { TargetAddress } from '../../store/records/keys.ts';
import type { ReadTarget } from '../../table/targets.ts';
import type { Commit } from '../commit/plan.ts';
import type { CommitQueue } from '../commit/queue.ts';
import type { Run, RunLike } from '../run.ts';
import type { Dialled } from '../self-check/second-place.ts';
import type { SelfWatch, Watched } from '../self-check/self-check.ts';
import type { SurgeLimit } from '../self-check/surge.ts';
import { recordedBusEvent, resultChanged, type Verdict } from './events.ts';
import { type HeldSpec, withoutRun } from './held-spec.ts';
import { quarantinedIn, quarantineOf } from './hung-probe.ts';
import type { Publisher } from './publisher.ts';
import type { Place } from './sockets.ts';
import {
  isKeptQuiet,
  isNewer,
  isOfRequest,
  planEnd,
  planProberError,
  planStep,
  quarantineReport,
  requestedEvent,
  type StepPlan,
  unwritten,
} from './step-plan.ts';

/** What a worker needs of the run that it belongs to (../holder.ts). */
export type WorkerHolder = {
  readonly run: Run;
  readonly commits: CommitQueue;
  readonly publisher: Publisher;
  readonly self: SelfWatch;
  readonly surgeLimit: SurgeLimit;
  /** Keyed by the prefix of the target's keys. */
  readonly targets: ReadonlyMap<string, HeldTarget>;
  /** Schedules the worker for the next tick of its ticker, unless it is in flight. */
  schedule(worker: Worker): void;
  /** Makes the timekeeper look at the target at `dueMs`. */
  scheduleTarget(held: HeldTarget, dueMs: number): void;
  /** Reads these targets of one bucket again and adopts what others have written. */
  reread(held: readonly HeldTarget[]): Promise<void>;
  /**
   * Called when something else has changed what only the holder writes. Discards the target's state in memory and reads
   * the target again.
   */
  reload(held: HeldTarget): Promise<void>;
};

/** A commit that, as far as this run knows, STATUS has not acked. */
export type Unacked = {
  readonly version: number;
  /** undefined: another run made the commit. That run may have ended before it published the event. */
  readonly event: BusEvent | undefined;
  readonly publishedAtMs: number;
  /** When this run committed or read the first change that STATUS has not taken in, monotonic ms. */
  readonly sinceMs: number;
};

/** `dueMs` and `heapPlace`: when the timekeeper looks at it. */
export class HeldTarget implements HeapItem {
  readonly address: TargetAddress;
  dueMs = Number.POSITIVE_INFINITY;
  heapPlace = -1;
  target: TargetRecord;
  report: ReportRecord | undefined;
  hang: HangRecord | undefined;
  status: StatusRecord;
  /** Every PROBE item of the uid, including those whose worker has ended. */
  readonly records: Map<ProbeName, ProbeRecord>;
  readonly workers = new Map<ProbeName, Worker>();
  readonly unacked: Map<ProbeName, Unacked>;
  observed: Observed = { phase: 'Pending', initContainerStatuses: [], containerStatuses: [], triggered: [] };
  /** When a status-sync was last requested. */
  syncAskedAtMs = Number.NEGATIVE_INFINITY;
  /** Its place in the line of targets for which something is to be published again. undefined: it does not wait. */
  ticket: number | undefined;
  /** No longer held: the target was purged, or one with another uid took its name. */
  gone = false;

  constructor({ address, target, report, status, probes }: ReadTarget, monotonicMs: number) {
    this.address = address;
    this.target = target;
    this.report = report;
    this.status = status;
    this.records = new Map(Object.entries(probes));
    this.unacked = unackedOf({ status, probes }, monotonicMs);
  }

  /**
   * Takes in what was read again, as far as it is newer: two reads may return in another order than they were started.
   */
  takeIn(read: ReadTarget, log: Log): void {
    if (read.target.resourceVersion >= this.target.resourceVersion) this.target = read.target;
    if ((read.report?.version ?? 0) >= (this.report?.version ?? 0)) this.report = read.report;
    if (read.status.version >= this.status.version) this.status = read.status;
    if (read.hang && read.hang.version > (this.hang?.version ?? 0)) this.#takeHang(read.hang, log);
    for (const [name, record] of Object.entries(read.probes)) {
      const kept = this.records.get(name);
      // This process is the only writer of a held item, so memory has what it last wrote, including ends of workers.
      if (!this.workers.has(name) && !(kept && isNewer(kept, record))) this.records.set(name, record);
    }
  }

  /** Logs the probes that are in quarantine from now on. */
  #takeHang(hang: HangRecord, log: Log): void {
    this.hang = hang;
    const { namespace, name } = this.target;
    for (const [probe, hangs] of quarantinedIn(hang, this.target))
      log.error('probe quarantined', { namespace, target: name, probe, hangs });
  }

  /** The state that its items have, as its holder knows it. */
  state(): TargetState {
    const { target, status, records, report } = this;
    return { target, status, probes: Object.fromEntries(records), ...(report && { report }) };
  }

  /** The pod as one of its workers sees it. */
  podView(container: string): PodView {
    return podView(this.target, this.observed, container);
  }

  /** Wall time has jumped. Each ticker keeps its distance from now. */
  shift(jumpMs: number, nowMs: number): void {
    for (const worker of this.workers.values()) worker.shift(jumpMs, nowMs);
    this.syncAskedAtMs += jumpMs;
    for (const [name, unacked] of this.unacked)
      this.unacked.set(name, { ...unacked, publishedAtMs: unacked.publishedAtMs + jumpMs });
  }

  /** For how long its status has not taken in a change that this run knows of; 0: it has taken in all. */
  statusBehindMs(monotonicMs: number): number {
    let longestMs = 0;
    for (const { sinceMs } of this.unacked.values()) longestMs = Math.max(longestMs, monotonicMs - sinceMs);
    return longestMs;
  }

  /** Computes the view again, and triggers the readiness workers whose container has started since. */
  refreshView(holder: Pick<WorkerHolder, 'schedule'>): void {
    const before = this.observed;
    this.observed = observe(this.state());
    for (const name of this.observed.triggered) {
      const old = containerStatus(before, name.slice(0, name.lastIndexOf('#')));
      if (old !== undefined && old.started !== true) this.workers.get(name)?.trigger(holder);
    }
  }
}

/** The pod as a worker of this container sees it. */
export const podView = (target: TargetRecord, observed: Observed, container: string): PodView => ({
  phase: observed.phase,
  deletionTimestampSet: target.deletionTimestampMs !== undefined,
  allContainersRestarting: false,
  container: containerStatus(observed, container),
});

export function containerStatus(observed: Observed, container: string): ContainerStatus | undefined {
  const named = (status: ContainerStatus) => status.name === container;
  return observed.containerStatuses.find(named) ?? observed.initContainerStatuses.find(named);
}

/**
 * Commits that a new holder cannot know to be published: a predecessor may have ended between a commit and its event.
 */
export function unackedOf(
  { status, probes }: Pick<TargetState, 'status' | 'probes'>,
  sinceMs: number,
): Map<ProbeName, Unacked> {
  const unacked = new Map<ProbeName, Unacked>();
  for (const [name, { version }] of Object.entries(probes))
    if (!isAcked(status, name, version))
      unacked.set(name, { version, event: undefined, publishedAtMs: Number.NEGATIVE_INFINITY, sinceMs });
  return unacked;
}

/**
 * How a cycle ended. `again`: it released its place to wait for a commit and still has to probe, so it starts over.
 * `refused`: this machine refused what the probe needed, so the probe is late.
 */
export type CycleEnd = 'over' | 'again' | 'refused';

/** What a worker begins with. `seenAtMs`: when the probe was last done, wall time. */
export type WorkerStart = {
  readonly verdict: Verdict;
  readonly ticker: Ticker;
  readonly requestsSeen: number;
  readonly seenAtMs: number;
};

/**
 * How many times in a row an attempt that this machine has refused is put back. The next one is a prober error. At two
 * tries a second that is 40 s, the time after which a late result is unknown. An address of a missing family stays
 * missing, so it is tried for 10 s only.
 */
const refusalsMax: Readonly<Record<Shortage, number>> = { sockets: 80, other: 20 };

/** `dueMs` and `heapPlace`: when it probes. `bagPlace`: among the workers in flight. */
export class Worker implements HeapItem, BagItem, Dialled {
  readonly held: HeldTarget;
  readonly name: ProbeName;
  readonly probeType: ProbeType;
  readonly labels: ProbeMetricLabels;
  dueMs = Number.POSITIVE_INFINITY;
  heapPlace = -1;
  bagPlace = inNoBag;
  #spec: HeldSpec;

  #ticker: Ticker;
  #inFlight = false;
  /** How the probe behaved when it last ran. Decides which probe gets a socket when there are too few. */
  #backlogClass: BacklogClass = 'new';
  /**
   * The probe could not run when it was due, or its last report is void. It then runs as soon as possible, and its next
   * tick is at least 0.9 period later.
   */
  #pending = false;
  /** The run has abandoned the probe that is in flight. */
  #isAbandoned = false;
  /** How many manual triggers of TARGET have been passed on. */
  #requestsSeen: number;
  /** How many of them have been answered: a probe that began later is in the event history. */
  #requestsServed: number;
  /** Attempts in a row that this machine has refused. */
  #refusals = 0;

  #verdict: Verdict;
  /** When (wall time) the probe last had a result, or nothing to probe. */
  #seenAtMs: number;
  /** When (wall time) the attempt began that gave this run's last result. */
  #triedAtMs: number | undefined;
  /** A write that changes whether the worker may probe has no answer yet. The table may already have it. */
  #changesGate = false;
  /** The last report is void, because the prober itself was at fault. */
  #isVoid = false;
  /** The last probe that was made while the prober trusted itself was a prober error. */
  #erred = false;
  /**
   * A running container whose start lies in the future by this process's clock, and when it was first seen, monotonic.
   */
  #earlyContainerID: string | undefined;
  #earlySeenMs = 0;

  constructor(held: HeldTarget, entry: SpecProbe, spec: HeldSpec, start: WorkerStart) {
    const { namespace, name, uid } = held.target;
    this.held = held;
    this.name = entry.name;
    this.probeType = entry.probeType;
    this.labels = {
      probeType: entry.probeType,
      container: entry.container.spec.name,
      pod: name,
      namespace,
      podUid: uid,
    };
    this.#spec = spec;
    this.#ticker = start.ticker;
    this.#requestsSeen = start.requestsSeen;
    this.#requestsServed = start.requestsSeen;
    this.#verdict = start.verdict;
    this.#seenAtMs = start.seenAtMs;
  }

  get spec(): HeldSpec {
    return this.#spec;
  }

  get ticker(): Ticker {
    return this.#ticker;
  }

  get inFlight(): boolean {
    return this.#inFlight;
  }

  get backlogClass(): BacklogClass {
    return this.#backlogClass;
  }

  get pending(): boolean {
    return this.#pending;
  }

  get requestsSeen(): number {
    return this.#requestsSeen;
  }

  get verdict(): Verdict {
    return this.#verdict;
  }

  get seenAtMs(): number {
    return this.#seenAtMs;
  }

  get triedAtMs(): number | undefined {
    return this.#triedAtMs;
  }

  get isVoid(): boolean {
    return this.#isVoid;
  }

  /** Whether it is still the target's worker of this name, and the target is still held. */
  isHeld(): boolean {
    return !this.held.gone && this.held.workers.get(this.name) === this;
  }

  // When it probes.

  /** Returns when (wall time) the probe is due; Infinity means never. */
  arm(nowMs: number): number {
    this.#ticker = passTime(this.#ticker, nowMs);
    return dueMs(this.#ticker, nowMs);
  }

  /** Takes the ready wake and puts the probe in flight. Returns false if none is ready. */
  begin(nowMs: number, isTick: boolean): boolean {
    const ticker = passTime(this.#ticker, nowMs);
    const wake = ticker.triggerHeld ? 'trigger' : ticker.tickHeld ? 'tick' : undefined;
    if (!wake) return false;
    const next = takeWake(ticker, wake, nowMs);
    this.#ticker = isTick ? restTicker(next, nowMs) : this.#pending ? spaceOut(next, nowMs) : next;
    this.#pending = false;
    this.#isAbandoned = false;
    this.#inFlight = true;
    return true;
  }

  land(): void {
    this.#inFlight = false;
  }

  /** The probe is due, but there is no socket for it. */
  postpone(): void {
    this.#pending = true;
  }

  /** A tick that came before the run could probe makes the probe pending. */
  makeUp(): void {
    if (this.#ticker.tickHeld) this.#pending = true;
  }

  /** The report of the probe in flight is void, and the probe has to run again. */
  abandon(): void {
    this.#isAbandoned = true;
    this.repeat();
  }

  /** The probe has to run again: its cycle was abandoned, or released its place before it could probe. */
  repeat(): void {
    this.#pending = true;
    this.#ticker = holdTick(this.#ticker);
  }

  /** Probes at once, or, if a probe is in flight, right after it. */
  trigger(holder: Pick<WorkerHolder, 'schedule'>): void {
    this.#ticker = holdTrigger(this.#ticker);
    holder.schedule(this);
  }

  /** Replaces the ticker: the period has changed, or a trigger may have been served already. */
  restart(ticker: Ticker): void {
    this.#ticker = ticker;
  }

  seeRequests(requests: number): void {
    this.#requestsSeen = Math.max(this.#requestsSeen, requests);
  }

  /** Wall time has jumped. The ticker keeps its distance from now. */
  shift(jumpMs: number, nowMs: number): void {
    this.#ticker = shiftTicker(this.#ticker, jumpMs, nowMs);
    this.#seenAtMs += jumpMs;
  }

  /** Tick mode: plans the probe to begin at `beginMs` (wall time); undefined means not in this slot. */
  planAt(beginMs: number | undefined): void {
    this.#ticker = beginMs === undefined ? rested(this.#ticker) : plannedTicker(this.#ticker, beginMs);
  }

  /** Tick mode: a probe that would begin at once waits until the slot is planned. */
  holdBack(): void {
    if (this.#inFlight || !this.#ticker.tickHeld) return;
    this.#pending = true;
    this.#ticker = rested(this.#ticker);
  }

  /**
   * Tick mode: the next run begins with this probe if it was planned and has not begun, or if its report is void and
   * the prober is in doubt.
   */
  carryOver(inDoubt: boolean): void {
    const isLeft = dueMs(this.#ticker, 0) !== Number.POSITIVE_INFINITY || (inDoubt && this.#isVoid);
    if (this.#inFlight || !isLeft) return;
    this.#pending = true;
    this.#ticker = holdTick(rested(this.#ticker));
  }

  // What changes it from outside.

  /**
   * Takes in the spec of its target. A changed spec restarts the counters; the cached result stays until a new
   * threshold is met (difference 3).
   */
  respec(spec: HeldSpec): void {
    const isChanged = spec.digest !== this.#spec.digest;
    this.#spec = spec;
    if (isChanged) this.#restartCounters();
  }

  /** The probe has left the spec, or its target terminates. The next step ends the worker. */
  stop(holder: Pick<WorkerHolder, 'schedule'>): void {
    this.#spec = { ...this.#spec, stopping: true };
    this.trigger(holder);
  }

  /** The target was read again. A probe that was overdue before is still overdue. */
  keepSeen(before: Worker | undefined): void {
    if (before) this.#seenAtMs = Math.min(this.#seenAtMs, before.#seenAtMs);
  }

  #restartCounters(): void {
    const { record, state, attempts, ration } = this.#verdict;
    this.#verdict = { record, state: withoutRun(state), attempts, ration };
  }

  // One cycle.

  /**
   * Runs the cycle to its end. Afterwards the worker is as committed; if the run has ended meanwhile, nothing changes.
   * The place is released before every commit, because a commit that waits for the store must not keep other probes
   * from running.
   */
  async cycle(holder: WorkerHolder, place: Place): Promise<CycleEnd> {
    const { held } = this;
    if (this.#spec.stopping) return this.#end(holder, place, noSpecDigest);
    const comesBack = this.#verdict.record.ended;
    const gate = this.#gate(holder.run);
    // Once DELETE has stopped a probe, the end of its worker is all that may be committed (difference 22).
    const applied = isStopped(held.target, this) || this.apply(holder, place, gate);
    if (applied !== true && !(await applied)) return 'over';
    switch (gate.kind) {
      case 'skip':
        // kubelet's worker waits for the container to run again, which no container of a terminating target does.
        if (gate.reason === 'NotRunning' && isStopped(held.target, this))
          return this.#end(holder, place, this.#spec.digest);
        this.#seenAtMs = holder.run.ports.clock.nowMs();
        // The container was started while it had no startup worker. The commit that brought this worker back has made
        // it not started again, so the gate has to look once more.
        return comesBack && gate.reason === 'Started' ? 'again' : 'over';
      case 'stop':
        return this.#end(holder, place, this.#spec.digest);
      case 'probe':
        if (place.hasLeft()) return 'again';
        if (quarantineOf(held.hang, held.target, this.name)) await this.#quarantine(holder, place);
        else return await this.#probe(holder, place);
        return 'over';
    }
  }

  #gate(run: Run): Gate {
    const pod = this.held.podView(this.#spec.container.spec.name);
    return decideGate(this.#spec.worker, this.#verdict.state, pod, this.#gateTimeMs(run, pod), productEra);
  }

  /**
   * The time that the gate compares with the container's start, which another process set by another clock. That clock
   * may have been a day ahead, so a start in the future counts from when this run first saw the container.
   */
  #gateTimeMs({ ports: { clock } }: RunLike, { container }: PodView): number {
    const nowMs = clock.nowMs();
    if (container?.state?.kind !== 'running' || container.state.startedAtMs <= nowMs) return nowMs;
    const monotonicMs = clock.monotonicMs();
    if (this.#earlyContainerID !== container.containerID) {
      this.#earlyContainerID = container.containerID;
      this.#earlySeenMs = monotonicMs;
    }
    return container.state.startedAtMs + monotonicMs - this.#earlySeenMs;
  }

  /** Carries out the decision of the gate. Returns false if the commit failed; the cycle is then over. */
  apply(holder: WorkerHolder, place: Place, step: Step): boolean | Promise<boolean> {
    const next = unwritten(this.#verdict, this.#spec, step);
    if (next) {
      this.#verdict = next;
      return true;
    }
    const plan = planStep(this.#verdict, this.#spec, step, holder.run.ports.clock.nowMs());
    if (plan.after) place.leave();
    return this.write(holder, plan);
  }

  async #probe(holder: WorkerHolder, place: Place): Promise<CycleEnd> {
    const { clock, metrics } = holder.run.ports;
    const { digest } = this.#spec;
    const requests = this.#requestsSeen;
    const beganAtMs = clock.monotonicMs();
    const watched = holder.self.watch();
    const tried = await this.#attempt(holder.run, place);
    if (this.putBack(tried, place.lacked())) {
      watched.done();
      return 'refused';
    }
    const durationMs = clock.monotonicMs() - beganAtMs;
    this.classify(durationMs);
    const judged = this.#judge(holder.run, watched, tried);
    const report = judged instanceof Promise ? await judged : judged;
    if (this.#countsForNothing(holder.run)) return 'over';
    const nowMs = clock.nowMs();
    metrics.observe(this.labels, metricResult(report), durationMs / 1000);
    this.take(report, nowMs);
    // A report that is void because the prober doubts itself is published as an error of the prober, not of this probe.
    const isOwn = report === tried && mayTrust(holder.self.health());
    const isStanding = isOwn && this.#noteError(report);
    // A report for the old spec says nothing about the new one, whose counters have just restarted.
    if (this.#spec.digest !== digest) return 'over';
    const writing = this.#conclude(holder, report, isStanding, requests, nowMs);
    if (writing !== undefined) await writing;
    return 'over';
  }

  /** Asks the prober, and releases the place whether or not that succeeds. */
  async #attempt({ ports }: Run, place: Place): Promise<ProbeReport<TimedAttempt>> {
    const work = ports.attribution?.start(this.#spec.workName);
    if (work) place.attribute(work);
    try {
      return await runProbe(ports, this.#spec.order, place);
    } finally {
      work?.end();
      place.leave();
    }
  }

  /**
   * Counts an attempt that failed only because this machine lacked a descriptor or a port. Returns whether the probe is
   * put back: it is then late, not unknown. After one that had to count as an error, none is put back until the probe
   * has had a result.
   */
  putBack(report: ProbeReport, lacked: Shortage | undefined): boolean {
    if (!lacked || this.#erred || !isProberFault(report)) return false;
    this.#refusals += 1;
    return this.#refusals <= refusalsMax[lacked];
  }

  /** A probe that uses up its time holds its socket for long, so it gets its next socket after all others. */
  classify(durationMs: number): void {
    this.#refusals = 0;
    this.#backlogClass = backlogClassAfter(durationMs, this.#spec.probe.timeoutSeconds * 1_000);
  }

  /** The report, or a prober error if the prober itself may be at fault. The watch is then over. */
  #judge(
    { ports }: Run,
    watched: Watched,
    report: ProbeReport<TimedAttempt>,
  ): ProbeReport<TimedAttempt> | Promise<ProbeReport<TimedAttempt>> {
    const { record, state } = this.#verdict;
    const { worker, reach } = this.#spec;
    // A run of failures below its threshold continues when the container is replaced; the new one has no result yet.
    const counts = state.lastResult !== 'failure' || state.resultRun < worker.failureThreshold;
    const failures = state.lastResult === 'failure' ? state.resultRun : 0;
    const judged = watched.judge(report, {
      reach: reach ?? ports.execReach ?? 'none',
      changes: counts || record.result !== 'failure' || state.onHold,
      confirms: record.result === 'success' && !state.onHold,
      turns: record.result !== 'failure' && failures + 1 >= worker.failureThreshold,
      dialled: reach && this,
    });
    if (judged instanceof Promise) return judged.finally(watched.done);
    watched.done();
    return judged;
  }

  /**
   * What the worker would ask now, for a look from another place; undefined: it would not probe, or a write may change
   * whether it would.
   */
  orderNow(run: RunLike): ProbeOrder | undefined {
    const { target, hang } = this.held;
    if (!this.isHeld() || this.#spec.stopping || isStopped(target, this)) return undefined;
    if (this.#changesGate || this.#verdict.record.ended || quarantineOf(hang, target, this.name)) return undefined;
    const pod = this.held.podView(this.#spec.container.spec.name);
    const nowMs = this.#gateTimeMs(run, pod);
    return wouldProbe(this.#spec.worker, this.#verdict.state, pod, nowMs, productEra) ? this.#spec.order : undefined;
  }

  /**
   * Whether the report came too late to count: the run has ended or the target has gone, the run abandoned the probe,
   * or DELETE has stopped it.
   */
  #countsForNothing(run: Run): boolean {
    return run.ended() !== undefined || this.held.gone || this.#isAbandoned || isStopped(this.held.target, this);
  }

  /** Notes whether the report says anything about the target. */
  take(report: ProbeReport<TimedAttempt>, nowMs: number): void {
    this.#isVoid = isProberFault(report);
    if (!this.#isVoid) this.#seenAtMs = nowMs;
    if (report.conclusion.kind === 'result') this.#triedAtMs = report.attempts.at(-1)?.timeMs;
  }

  /** Takes in a report while the prober trusts itself. Returns whether it is the second prober error in a row. */
  #noteError({ conclusion }: ProbeReport): boolean {
    const erredBefore = this.#erred;
    this.#erred = conclusion.kind === 'error';
    return erredBefore && this.#erred;
  }

  /**
   * Counts the report and commits what it changes, and if the probe was requested, what it found. `requests`: manual
   * triggers before the probe began. undefined: there is nothing to write, as after almost every report, and that costs
   * no promise.
   */
  #conclude(
    holder: WorkerHolder,
    report: ProbeReport<TimedAttempt>,
    isStanding: boolean,
    requests: number,
    nowMs: number,
  ): Promise<unknown> | undefined {
    const { conclusion } = report;
    const verdict = this.#verdict;
    const isRequested = requests > this.#requestsServed;
    let plan: StepPlan;
    if (conclusion.kind === 'error') plan = planProberError(verdict, report, isStanding, nowMs);
    else {
      const step = reduce(this.#spec.worker, verdict.state, conclusion.result);
      if (this.#askSurgeLimit(holder, step)) return undefined;
      const next = isRequested ? undefined : unwritten(verdict, this.#spec, step, report);
      if (next) {
        this.#verdict = next;
        return undefined;
      }
      plan = planStep(verdict, this.#spec, step, nowMs, report);
    }
    if (isRequested) return this.#answerRequests(holder, plan, requestedEvent(verdict, report, nowMs), requests);
    const written = this.write(holder, plan);
    return written instanceof Promise ? written : undefined;
  }

  /** `event`: what the probe found that these requests have asked for. */
  async #answerRequests(holder: WorkerHolder, plan: StepPlan, event: EventRecord, requests: number): Promise<void> {
    if (await this.write(holder, { ...plan, events: [...plan.events, event] }))
      this.#requestsServed = Math.max(this.#requestsServed, requests);
  }

  /**
   * Asks the surge limit, if this failure would turn its target unhealthy. Returns whether the failure is held back
   * because too many others turn: the target still counts as seen, but its run of failures stays one short of the
   * threshold, so the next probe asks again.
   */
  #askSurgeLimit({ surgeLimit, targets }: WorkerHolder, { actions }: Step): boolean {
    if (this.#verdict.record.result === 'failure') return false;
    if (!actions.some((action) => action.kind === 'set' && action.result === 'failure')) return false;
    const periodMs = this.#spec.probe.periodSeconds * 1_000;
    return !surgeLimit.ask(this.held.address.prefix, periodMs, targets.size);
  }

  /** A probe that has hung the prober twice is not made: it counts as a prober error, and its result is unknown. */
  async #quarantine(holder: WorkerHolder, place: Place): Promise<void> {
    const { clock, metrics } = holder.run.ports;
    const { detail = '', hungAtMs = 0 } = quarantineOf(this.held.hang, this.held.target, this.name) ?? {};
    const nowMs = clock.nowMs();
    const isStanding = this.#erred;
    this.#isVoid = true;
    this.#erred = true;
    this.#seenAtMs = Math.min(this.#seenAtMs, hungAtMs);
    metrics.observe(this.labels, 'unknown', 0);
    const report = quarantineReport(this.#spec, this.#verdict.record, detail, nowMs);
    place.leave();
    await this.write(holder, planProberError(this.#verdict, report, isStanding, nowMs));
  }

  /** Ends the worker. Its cached result and its metric series are removed; the item stays and is marked as ended. */
  async #end(holder: WorkerHolder, place: Place, specDigest: string): Promise<CycleEnd> {
    const withTarget = this.held.target.deletionTimestampMs !== undefined;
    const plan = planEnd(this.#verdict, specDigest, withTarget, holder.run.ports.clock.nowMs());
    place.leave();
    if (!(await this.write(holder, plan))) return 'over';
    this.held.workers.delete(this.name);
    holder.run.ports.metrics.remove(this.labels);
    // Meanwhile the probe may have come back into the spec, or its container with another ID.
    await holder.reread([this.held]);
    return 'over';
  }

  // What it commits.

  /** Makes a plan durable. Returns false if that failed or the worker is no longer held; its cycle is then over. */
  write(holder: WorkerHolder, plan: StepPlan): boolean | Promise<boolean> {
    if (plan.after || plan.events.length > 0) return this.#commit(holder, plan);
    // Almost every step ends here, so it costs no promise.
    this.#verdict = plan.next;
    return true;
  }

  /**
   * The order of these steps is what makes a crash, a hand-over or a change of the spec between any two of them safe.
   */
  async #commit(holder: WorkerHolder, { after, events, next }: StepPlan): Promise<boolean> {
    const { held } = this;
    // Events alone change no record, so what was counted need not wait for them.
    if (!after) this.#verdict = next;
    const before = this.#verdict.record;
    const { digest } = this.#spec;
    const commit = withinBudget(held.address, before, after, events, holder.commits.isScarce());
    this.#changesGate = after !== undefined && changesGate(before, after);
    // Conditional on the record as it was. If something else has changed it, the target is read again.
    const result = await holder.commits.submit(commit);
    this.#changesGate = false;
    if (result === 'superseded') await holder.reload(held);
    if (result !== 'committed') return false;
    // The record is durable, so it counts from here on: in memory, then for the pod, which may start other workers.
    if (commit.after) {
      this.#verdict = { ...this.#verdict, record: commit.after };
      held.records.set(this.name, commit.after);
    }
    if (after) held.refreshView(holder);
    // A crash before this leaves a commit that is not acked, which the timekeeper of the next holder publishes.
    this.#publishRecorded(holder, events);
    if (!after) return true;
    if (after.version !== before.version) this.#publishChange(holder, before, after, events);
    if (held.gone) {
      await renewSuccessor(holder, held, this.name, after);
      return false;
    }
    // The counters come last: a target that has gone meanwhile has no counters any more.
    this.#verdict = { ...next, record: this.#verdict.record };
    // The spec changed during the commit. What was counted for the old spec says nothing about the new one.
    if (this.#spec.digest !== digest) this.#restartCounters();
    return true;
  }

  #publishRecorded({ publisher }: WorkerHolder, events: StepPlan['events']): void {
    const recorded = events.filter((event) => event.kind === 'recorded' && !isKeptQuiet(event) && !isOfRequest(event));
    publisher.publish(recorded.map((event) => recordedBusEvent(this.held.target, event, this.#verdict.record)));
  }

  #publishChange(holder: WorkerHolder, before: ProbeRecord, after: ProbeRecord, events: StepPlan['events']): void {
    const { held, name } = this;
    const { clock, log } = holder.run.ports;
    const attempts = events.find(({ kind }) => kind === 'transition')?.attempts ?? [];
    const event = resultChanged(held.target, publishedResult(before), after, attempts);
    const nowMs = clock.nowMs();
    const sinceMs = held.unacked.get(name)?.sinceMs ?? clock.monotonicMs();
    held.unacked.set(name, { version: after.version, event, publishedAtMs: nowMs, sinceMs });
    holder.publisher.publish([event]);
    logChange(log, held.target, before, after);
    holder.scheduleTarget(held, nowMs);
  }
}

const rested = (ticker: Ticker): Ticker => restTicker(ticker, ticker.resting?.probedAtMs);

/** The prober itself was at fault. */
const isProberFault = ({ conclusion }: ProbeReport): boolean =>
  conclusion.kind === 'error' && conclusion.failureClass === 'PROBER';

/** kubelet's words for the metric. A prober error is unknown, whatever the attempts gave. */
function metricResult({ conclusion }: ProbeReport): 'successful' | 'failed' | 'unknown' {
  if (conclusion.kind === 'error') return 'unknown';
  return conclusion.result === 'success' ? 'successful' : 'failed';
}

/** Whether the commit opens or shuts the gate of the worker. */
const changesGate = (before: ProbeRecord, after: ProbeRecord): boolean =>
  after.onHold !== before.onHold || after.ended !== before.ended || after.containerID !== before.containerID;

/**
 * The commit without the events for which the probe's budget, or a table without capacity, leaves no room in the
 * history.
 */
function withinBudget(
  address: TargetAddress,
  before: ProbeRecord,
  after: ProbeRecord | undefined,
  events: StepPlan['events'],
  isScarce: boolean,
): Commit {
  const { counted, kept, budget } = spend(before.history, events, isOfRequest, isScarce);
  const isSpent = budget !== undefined && budget !== before.history;
  return {
    address,
    before,
    after: isSpent ? { ...(after ?? before), history: budget } : after,
    events: kept,
    latest: counted.find(({ kind }) => kind === 'transition'),
  };
}

/**
 * If the target was read again during a commit, the read may have come before the write. The new entry in `targets`
 * then lacks the committed record and has to be reloaded.
 */
export async function renewSuccessor(
  holder: Pick<WorkerHolder, 'targets' | 'reload'>,
  held: HeldTarget,
  name: ProbeName,
  after: ProbeRecord,
): Promise<void> {
  const successor = holder.targets.get(held.address.prefix);
  const known = successor?.target.uid === after.uid ? successor.records.get(name) : undefined;
  if (successor && known && isNewer(after, known)) await holder.reload(successor);
}

function logChange(log: Log, { namespace, name }: TargetRecord, before: ProbeRecord, after: ProbeRecord): void {
  const { container, probeType, containerID, output, version, unknown } = after;
  log.info('probe result changed', {
    namespace,
    name,
    container,
    probeType,
    containerID,
    result: publishedResult(after),
    previousResult: publishedResult(before),
    ...(unknown && { reason: unknown.reason }),
    output: unknown?.message ?? output,
    version,
  });
}
