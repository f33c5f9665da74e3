/**
 * Which workers the holder runs: kubelet's AddPod, StopLivenessAndStartup and RemovePod, as one comparison of a
 * target's items with what is held. An existing worker never stops the others from being added.
 */

import {
  loadedTicker,
  newTargetTicker,
  pendingTicker,
  restTicker,
  type Ticker,
  takenOverTicker,
} from '../../core/kubelet/ticker.ts';
import type { ProbeRecord } from '../../core/spec/records.ts';
import { type ProbeName, type SpecProbe, specProbes } from '../../core/spec/spec.ts';
import { isStopped } from '../../core/status/shown.ts';
import { probeKey } from '../../store/records/keys.ts';
import type { CheckpointEntry, CheckpointRecord } from '../../store/records/shard-records.ts';
import type { ReadTarget } from '../../table/targets.ts';
import type { Holder } from '../holder.ts';
import { inheritedSeenAtMs } from '../inherited.ts';
import { heldSpecOf, phasedOf, specDigestOf, storedWorker } from './held-spec.ts';
import { containerStatus, HeldTarget, Worker } from './worker.ts';

export type Checkpoints = CheckpointRecord['entries'];

/** Takes in what was read of a target: holds a new target, or brings the held one up to date. */
export function adoptTarget(holder: Holder, read: ReadTarget, checkpoints: Checkpoints): HeldTarget {
  const { clock, log } = holder.run.ports;
  const known = holder.targets.get(read.address.prefix);
  if (known && known.target.uid !== read.target.uid) dropTarget(holder, known);
  const held = known && !known.gone ? known : new HeldTarget(read, clock.monotonicMs());
  if (held !== known) holder.targets.set(read.address.prefix, held);
  held.takeIn(read, log);
  held.refreshView(holder);
  reconcileWorkers(holder, held, checkpoints);
  holder.scheduleTarget(held, clock.nowMs());
  return held;
}

/** The uid is gone, so nothing more is probed, written or published for it. */
export function dropTarget({ run, targets }: Pick<Holder, 'run' | 'targets'>, held: HeldTarget): void {
  held.gone = true;
  if (targets.get(held.address.prefix) === held) targets.delete(held.address.prefix);
  for (const worker of held.workers.values()) run.ports.metrics.remove(worker.labels);
}

function reconcileWorkers(holder: Holder, held: HeldTarget, checkpoints: Checkpoints): void {
  const wanted = new Map(wantedProbes(held).map((entry) => [entry.name, entry]));
  for (const entry of wanted.values()) {
    const worker = held.workers.get(entry.name);
    if (worker) updateWorker(holder, worker, entry);
    else startWorker(holder, held, entry, checkpoints);
    passOnRequests(holder, held, entry.name, worker === undefined);
  }
  for (const [name, record] of held.records) {
    if (!wanted.has(name) && !record.ended) stopWorker(holder, held, name, record);
  }
}

/** Termination stops the liveness and startup workers of regular containers. Those of sidecars end by rule 6. */
function wantedProbes({ target }: HeldTarget): readonly SpecProbe[] {
  return specProbes(target.spec).filter((probe) => probe.container.kind !== 'container' || !isStopped(target, probe));
}

function updateWorker({ run }: Holder, worker: Worker, entry: SpecProbe): void {
  const { target } = worker.held;
  const { probe } = worker.spec;
  worker.respec(heldSpecOf(target, entry));
  const { periodSeconds } = entry.probe;
  if (periodSeconds === probe.periodSeconds) return;
  worker.restart(newTargetTicker(run.ports.clock.nowMs(), phasedOf(target, worker.name, periodSeconds)));
}

function startWorker(holder: Holder, held: HeldTarget, entry: SpecProbe, checkpoints: Checkpoints): void {
  const record = held.records.get(entry.name);
  if (!record || (record.ended && !revives(held, entry, record))) return;
  const checkpoint = checkpoints[probeKey(held.address, entry.name).sk];
  held.workers.set(entry.name, workerOf(holder, held, entry, record, checkpoint));
}

/**
 * kubelet's AddPod on each sync: an ended worker comes back while its container runs or if its spec has changed, but
 * never while its target terminates or after it has finished.
 */
function revives({ target, observed }: HeldTarget, entry: SpecProbe, record: ProbeRecord): boolean {
  if (target.deletionTimestampMs !== undefined || observed.phase === 'Failed' || observed.phase === 'Succeeded')
    return false;
  const status = containerStatus(observed, entry.container.spec.name);
  return status?.state?.kind === 'running' || specDigestOf(entry) !== record.specDigest;
}

/** A checkpoint entry counts only for its uid: pending probes and requests of another uid are not this worker's. */
function workerOf(
  holder: Holder,
  held: HeldTarget,
  entry: SpecProbe,
  record: ProbeRecord,
  checkpoint: CheckpointEntry | undefined,
): Worker {
  const { takenOver } = holder;
  const nowMs = holder.run.ports.clock.nowMs();
  const spec = heldSpecOf(held.target, entry);
  const own = checkpoint?.uid === held.target.uid ? checkpoint : undefined;
  return new Worker(held, entry, spec, {
    verdict: { record, state: storedWorker(record, spec.digest, checkpoint), attempts: [], ration: undefined },
    ticker: firstTicker(holder, held, entry, record, own?.owed === true),
    requestsSeen: own?.requestsSeen ?? 0,
    seenAtMs: takenOver ? inheritedSeenAtMs(takenOver.inherited, held.target, entry.name, nowMs) : nowMs,
  });
}

function firstTicker(
  { run, takenOver }: Holder,
  { target }: HeldTarget,
  entry: SpecProbe,
  record: ProbeRecord,
  isPending: boolean,
): Ticker {
  const nowMs = run.ports.clock.nowMs();
  const phased = phasedOf(target, entry.name, entry.probe.periodSeconds);
  // A worker that comes back starts from scratch, and kubelet's first probe comes at once.
  const isNew = record.version === 0 && record.lastResult === undefined;
  if (isNew || record.ended) return newTargetTicker(nowMs, phased);
  if (run.message.mode === 'tick' && !isPending) return restTicker(loadedTicker(nowMs, phased));
  if (isPending || record.lastResult === undefined) return pendingTicker(nowMs, phased);
  return takenOverTicker(nowMs, phased, takenOver?.unheld ?? { sinceMs: nowMs, inOrder: true });
}

/** Passes on the manual triggers that the worker has not seen. */
function passOnRequests(holder: Holder, held: HeldTarget, name: ProbeName, isLoaded: boolean): void {
  const worker = held.workers.get(name);
  if (!worker) return;
  const requests = held.target.probeRequests[name] ?? 0;
  if (requests > worker.requestsSeen) {
    // The previous holder may have passed this trigger on already, so the probe is pending and keeps its phase.
    if (isLoaded && !worker.ticker.resting) {
      const phased = phasedOf(held.target, name, worker.spec.probe.periodSeconds);
      worker.restart(pendingTicker(holder.run.ports.clock.nowMs(), phased));
    } else worker.trigger(holder);
  }
  worker.seeRequests(requests);
  holder.schedule(worker);
}

function stopWorker(holder: Holder, held: HeldTarget, name: ProbeName, record: ProbeRecord): void {
  // Without a worker, the probe left the spec while the shard had no holder.
  const worker = held.workers.get(name) ?? workerOf(holder, held, forgottenProbe(name, record), record, undefined);
  held.workers.set(name, worker);
  worker.stop(holder);
}

/** For a worker that only ends. Its probe is not known any more. */
function forgottenProbe(name: ProbeName, { container, probeType }: ProbeRecord): SpecProbe {
  const probe = {
    initialDelaySeconds: 0,
    periodSeconds: 1,
    timeoutSeconds: 1,
    successThreshold: 1,
    failureThreshold: 1,
  };
  return { name, container: { kind: 'container', spec: { name: container } }, probeType, probe };
}

/** What to remember of a reloaded target: its manual triggers, so that none fires twice. No run length counts. */
export function requestsPassedOn({ address, target, workers }: HeldTarget): Checkpoints {
  const entries = [...workers.values()].map(({ name, requestsSeen }) => {
    const entry = { uid: target.uid, streak: noStreak, resultRun: 0, requestsSeen };
    return [probeKey(address, name).sk, entry] as const;
  });
  return Object.fromEntries(entries);
}

/** No item has this streak. */
const noStreak = -1;
