/**
 * Which workers the holder runs: kubelet's AddPod, StopLivenessAndStartup and RemovePod, as one comparison of a
 * target's items with what is held. An existing worker never stops the others from being added.
 */

import {
  loadedTicker,
  newTargetTicker,
  type Phased,
  pendingTicker,
  phaseOf,
  restTicker,
  type Ticker,
  takenOverTicker,
  type Unheld,
} from '../../core/kubelet/ticker.ts';
import type { ProbeRecord, TargetRecord } from '../../core/spec/records.ts';
import { type ProbeName, type SpecProbe, specProbes } from '../../core/spec/spec.ts';
import { isStopped } from '../../core/status/shown.ts';
import { hash32 } from '../../lib/hash32.ts';
import { probeKey } from '../../store/records/keys.ts';
import type { CheckpointRecord } from '../../store/records/shard-records.ts';
import type { ReadTarget } from '../../table/targets.ts';
import type { Holder } from '../holder.ts';
import { inheritedSeenAtMs } from '../inherited.ts';
import { triggerProbe } from './commit.ts';
import {
  containerStatus,
  type HeldProbe,
  type HeldSpec,
  type HeldTarget,
  heldSpecOf,
  refreshView,
  specDigestOf,
  storedWorker,
  unackedOf,
} from './held.ts';
import { takeHang } from './hung-probe.ts';
import { newSchedule, restart, seeRequests } from './probe-schedule.ts';
import { newVerdict, restartCounters } from './probe-verdict.ts';
import { isNewer } from './step-plan.ts';

export type Checkpoints = CheckpointRecord['entries'];

/** The parts of a holder that worker reconciliation needs. */
export type Reconciling = Pick<Holder, 'run' | 'targets' | 'takenOver' | 'schedule' | 'scheduleTarget'>;
type Starting = Pick<Holder, 'run' | 'takenOver'>;

/** Takes in what was read of a target: holds a new target, or brings the held one up to date. */
export function adoptTarget(holder: Reconciling, read: ReadTarget, checkpoints: Checkpoints): HeldTarget {
  const known = holder.targets.get(read.address.prefix);
  if (known && known.target.uid !== read.target.uid) dropTarget(holder, known);
  const held = known && !known.gone ? known : holdTarget(holder, read);
  takeNewer(held, read);
  if (read.hang) takeHang(holder.run, held, read.hang);
  for (const [name, record] of Object.entries(read.probes)) {
    const kept = held.records.get(name);
    // This process is the only writer of a held item, so memory has what it last wrote, including ends of workers.
    if (!held.probes.has(name) && !(kept && isNewer(kept, record))) held.records.set(name, record);
  }
  for (const name of refreshView(held)) triggerProbe(holder, held, name);
  reconcileWorkers(holder, held, checkpoints);
  holder.scheduleTarget(held, holder.run.ports.clock.nowMs());
  return held;
}

/** Two reads may return in another order than they were started. */
function takeNewer(held: HeldTarget, read: ReadTarget): void {
  if (read.target.resourceVersion >= held.target.resourceVersion) held.target = read.target;
  if ((read.report?.version ?? 0) >= (held.report?.version ?? 0)) held.report = read.report;
  if (read.status.version >= held.status.version) held.status = read.status;
}

/** The uid is gone, so nothing more is probed, written or published for it. */
export function dropTarget({ run, targets }: Pick<Holder, 'run' | 'targets'>, held: HeldTarget): void {
  held.gone = true;
  if (targets.get(held.address.prefix) === held) targets.delete(held.address.prefix);
  for (const probe of held.probes.values()) run.ports.metrics.remove(probe.labels);
}

function holdTarget({ targets, run }: Pick<Holder, 'targets' | 'run'>, read: ReadTarget): HeldTarget {
  const held: HeldTarget = {
    address: read.address,
    target: read.target,
    report: read.report,
    hang: undefined,
    status: read.status,
    records: new Map(Object.entries(read.probes)),
    probes: new Map(),
    unacked: unackedOf(read, run.ports.clock.monotonicMs()),
    observed: { phase: 'Pending', initContainerStatuses: [], containerStatuses: [], triggered: [] },
    syncAskedAtMs: Number.NEGATIVE_INFINITY,
    gone: false,
  };
  targets.set(read.address.prefix, held);
  return held;
}

function reconcileWorkers(holder: Reconciling, held: HeldTarget, checkpoints: Checkpoints): void {
  const wanted = new Map(wantedProbes(held).map((entry) => [entry.name, entry]));
  for (const entry of wanted.values()) {
    const probe = held.probes.get(entry.name);
    if (probe) updateWorker(holder, held, { probe, entry });
    else startWorker(holder, held, entry, checkpoints);
    passOnRequests(holder, held, entry.name, probe ? 'known' : 'loaded');
  }
  for (const [name, record] of held.records) {
    if (!wanted.has(name) && !record.ended) stopWorker(holder, held, name);
  }
}

/** Termination stops the liveness and startup workers of regular containers. Those of sidecars end by rule 6. */
function wantedProbes(held: HeldTarget): readonly SpecProbe[] {
  return specProbes(held.target.spec).filter(
    (probe) => probe.container.kind !== 'container' || !isStopped(held.target, probe),
  );
}

type Updating = { readonly probe: HeldProbe; readonly entry: SpecProbe };

/** A changed spec restarts the counters. The cached result stays until a new threshold is met (difference 3). */
function updateWorker({ run }: Pick<Holder, 'run'>, held: HeldTarget, { probe, entry }: Updating): void {
  const before = probe.spec;
  const spec = heldSpecOf(held.target, entry);
  replaceSpec(probe, spec);
  if (spec.digest === before.digest) return;
  restartCounters(probe.verdict);
  const { periodSeconds } = spec.probe;
  if (periodSeconds === before.probe.periodSeconds) return;
  const phased = phasedOf(held.target, probe.name, periodSeconds);
  restart(probe.schedule, newTargetTicker(run.ports.clock.nowMs(), phased));
}

function replaceSpec(probe: { spec: HeldSpec }, spec: HeldSpec): void {
  probe.spec = spec;
}

function startWorker(holder: Starting, held: HeldTarget, entry: SpecProbe, checkpoints: Checkpoints): void {
  const record = held.records.get(entry.name);
  if (!record || (record.ended && !revives(held, entry, record))) return;
  held.probes.set(entry.name, workerOf(holder, held, { entry, record, checkpoints }));
}

/**
 * kubelet's AddPod on each sync: an ended worker comes back while its container runs or if its spec has changed, but
 * never while its target terminates or after it has finished.
 */
function revives(held: HeldTarget, entry: SpecProbe, record: ProbeRecord): boolean {
  const { phase } = held.observed;
  if (held.target.deletionTimestampMs !== undefined || phase === 'Failed' || phase === 'Succeeded') return false;
  const status = containerStatus(held.observed, entry.container.spec.name);
  return status?.state?.kind === 'running' || specDigestOf(entry) !== record.specDigest;
}

type Started = { readonly entry: SpecProbe; readonly record: ProbeRecord; readonly checkpoints: Checkpoints };

function workerOf({ run, takenOver }: Starting, held: HeldTarget, { entry, record, checkpoints }: Started): HeldProbe {
  const { namespace, name, uid } = held.target;
  const nowMs = run.ports.clock.nowMs();
  const phased = phasedOf(held.target, entry.name, entry.probe.periodSeconds);
  const spec = heldSpecOf(held.target, entry);
  const checkpoint = checkpoints[probeKey(held.address, entry.name).sk];
  const pending = checkpoint?.uid === uid && checkpoint.owed === true;
  const ticker = firstTicker({
    record,
    pending,
    phased,
    nowMs,
    unheld: takenOver?.unheld ?? { sinceMs: nowMs, inOrder: true },
    isTick: run.message.mode === 'tick',
  });
  const seenAtMs = takenOver ? inheritedSeenAtMs(takenOver.inherited, held, { probe: entry.name, nowMs }) : nowMs;
  return {
    name: entry.name,
    probeType: entry.probeType,
    labels: { probeType: entry.probeType, container: entry.container.spec.name, pod: name, namespace, podUid: uid },
    spec,
    schedule: newSchedule(ticker, requestsSeen(checkpoint, uid)),
    verdict: newVerdict(record, storedWorker(record, spec.digest, checkpoint), seenAtMs),
  };
}

type First = {
  readonly record: ProbeRecord;
  readonly pending: boolean;
  readonly phased: Phased;
  readonly nowMs: number;
  readonly unheld: Unheld;
  readonly isTick: boolean;
};

function firstTicker({ record, pending, phased, nowMs, unheld, isTick }: First): Ticker {
  // A worker that comes back starts from scratch, and kubelet's first probe comes at once.
  const isNew = record.version === 0 && record.lastResult === undefined;
  if (isNew || record.ended) return newTargetTicker(nowMs, phased);
  if (isTick && !pending) return restTicker(loadedTicker(nowMs, phased));
  return pending || record.lastResult === undefined
    ? pendingTicker(nowMs, phased)
    : takenOverTicker(nowMs, phased, unheld);
}

function passOnRequests(
  { run, schedule }: Pick<Holder, 'run' | 'schedule'>,
  held: HeldTarget,
  name: ProbeName,
  since: 'known' | 'loaded',
): void {
  const probe = held.probes.get(name);
  if (!probe) return;
  const requests = held.target.probeRequests[name] ?? 0;
  if (requests > probe.schedule.requestsSeen) {
    // The previous holder may have passed this trigger on already, so the probe is pending and keeps its phase.
    if (since === 'loaded' && !probe.schedule.ticker.resting) {
      const phased = phasedOf(held.target, name, probe.spec.probe.periodSeconds);
      restart(probe.schedule, pendingTicker(run.ports.clock.nowMs(), phased));
    } else triggerProbe({ schedule }, held, name);
  }
  seeRequests(probe.schedule, requests);
  schedule(held, probe);
}

function stopWorker(
  holder: Pick<Reconciling, 'run' | 'takenOver' | 'schedule'>,
  held: HeldTarget,
  name: ProbeName,
): void {
  const probe = held.probes.get(name);
  const record = held.records.get(name);
  if (probe) {
    replaceSpec(probe, { ...probe.spec, stopping: true });
    triggerProbe(holder, held, name);
    return;
  }
  // The probe left the spec while the shard had no holder. This worker only ends.
  if (record) endForgotten(holder, held, { name, record });
}

function endForgotten(
  holder: Pick<Reconciling, 'run' | 'takenOver' | 'schedule'>,
  held: HeldTarget,
  { name, record }: { readonly name: ProbeName; readonly record: ProbeRecord },
): void {
  const spec = {
    initialDelaySeconds: 0,
    periodSeconds: 1,
    timeoutSeconds: 1,
    successThreshold: 1,
    failureThreshold: 1,
  };
  const container = { kind: 'container' as const, spec: { name: record.container } };
  const entry: SpecProbe = { name, container, probeType: record.probeType, probe: spec };
  const probe = workerOf(holder, held, { entry, record, checkpoints: {} });
  replaceSpec(probe, { ...probe.spec, stopping: true });
  held.probes.set(name, probe);
  triggerProbe(holder, held, name);
}

/** Where in its period the instants of a probe lie. */
export const phasedOf = ({ namespace, name }: TargetRecord, probe: ProbeName, periodSeconds: number): Phased =>
  phaseOf(hash32(`${namespace}/${name}#${probe}`), periodSeconds * 1000);

/** A checkpoint entry counts only for its uid: requests of another uid have not been passed on. */
const requestsSeen = (checkpoint: Checkpoints[string] | undefined, uid: string): number =>
  checkpoint?.uid === uid ? (checkpoint.requestsSeen ?? 0) : 0;

/** What to remember of a reloaded target: its manual triggers, so that none fires twice. No run length counts. */
export function requestsPassedOn({ address, target, probes }: HeldTarget): Checkpoints {
  const entries = [...probes.values()].map((probe) => {
    const entry = { uid: target.uid, streak: noStreak, resultRun: 0, requestsSeen: probe.schedule.requestsSeen };
    return [probeKey(address, probe.name).sk, entry] as const;
  });
  return Object.fromEntries(entries);
}

/** No item has this streak. */
const noStreak = -1;
