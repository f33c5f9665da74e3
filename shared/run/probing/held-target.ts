/**
 * What the holder of a shard keeps in memory for each target: its committed records, its view of the pod and its
 * workers.
 */

import type { BusEvent } from '../../bus/events.ts';
import { type Observed, observe } from '../../core/observed.ts';
import type {
  HangRecord,
  ProbeRecord,
  ReportRecord,
  StatusRecord,
  TargetRecord,
  TargetState,
} from '../../core/records.ts';
import type { PlacedContainer, Probe, ProbeName, SpecProbe } from '../../core/spec.ts';
import type { ContainerStatus, ProbeType } from '../../core/types.ts';
import { newWorker, type PodView, type Worker, type WorkerSpec } from '../../core/worker.ts';
import type { ProbeMetricLabels } from '../../prober/metrics.ts';
import { isAcked } from '../../status-sync/write-status.ts';
import type { CheckpointEntry } from '../../store/items.ts';
import type { TargetAddress } from '../../store/keys.ts';
import type { ProbeSchedule } from './probe-schedule.ts';
import { type ProbeVerdict, withoutRun } from './probe-verdict.ts';

/** The part of a held probe that follows from its target's spec. Only workers.ts replaces it. */
export type HeldSpec = {
  readonly container: PlacedContainer;
  readonly probe: Probe;
  readonly worker: WorkerSpec;
  readonly digest: string;
  /** The probe has left the spec, or its target is terminating. The next step ends the worker. */
  readonly stopping: boolean;
};

/** A worker in three parts, each written by one file. */
export type HeldProbe = {
  readonly name: ProbeName;
  readonly probeType: ProbeType;
  readonly labels: ProbeMetricLabels;
  readonly spec: HeldSpec;
  readonly schedule: ProbeSchedule;
  readonly verdict: ProbeVerdict;
};

/** A commit that, as far as this run knows, STATUS has not acked. */
export type Unacked = {
  readonly version: number;
  /** Absent if another run made the commit. That run may have ended before it published the event. */
  readonly event?: BusEvent;
  readonly publishedAtMs: number;
};

export type HeldTarget = {
  readonly address: TargetAddress;
  target: TargetRecord;
  report: ReportRecord | undefined;
  hang: HangRecord | undefined;
  status: StatusRecord;
  /** Every PROBE item of the uid, including those whose worker has ended. */
  readonly records: Map<ProbeName, ProbeRecord>;
  readonly probes: Map<ProbeName, HeldProbe>;
  readonly unacked: Map<ProbeName, Unacked>;
  observed: Observed;
  /** When a status-sync was last requested. */
  syncAskedAtMs: number;
  /** The number of the valid entry in the timer heap. */
  wake: number;
  /** No longer held: the target was purged, or one with another uid took its name. */
  gone: boolean;
};

export function stateOf(held: Pick<HeldTarget, 'target' | 'report' | 'status' | 'records'>): TargetState {
  return {
    target: held.target,
    status: held.status,
    probes: Object.fromEntries(held.records),
    ...(held.report && { report: held.report }),
  };
}

/** Commits that a new holder cannot know to be published: its predecessor may have ended before it published them. */
export function unackedOf({ status, probes }: Pick<TargetState, 'status' | 'probes'>): HeldTarget['unacked'] {
  const open = Object.entries(probes).filter(([name, { version }]) => !isAcked(status, name, version));
  return new Map(
    open.map(([name, { version }]) => [name, { version, publishedAtMs: Number.NEGATIVE_INFINITY }] as const),
  );
}

/** Recomputes the view. Returns the readiness workers whose container has started since; they probe at once. */
export function refreshView(held: HeldTarget): readonly ProbeName[] {
  const before = held.observed;
  held.observed = observe(stateOf(held));
  return held.observed.triggered.filter((name) => {
    const container = name.slice(0, name.lastIndexOf('#'));
    const old = containerStatus(before, container);
    return old !== undefined && old.started !== true;
  });
}

/** The pod as one of its workers sees it. */
export function podView(held: HeldTarget, container: string): PodView {
  const status = containerStatus(held.observed, container);
  return {
    phase: held.observed.phase,
    deletionTimestampSet: held.target.deletionTimestampMs !== undefined,
    allContainersRestarting: false,
    ...(status && { container: status }),
  };
}

export function containerStatus(observed: Observed, container: string): ContainerStatus | undefined {
  const named = (status: ContainerStatus) => status.name === container;
  return observed.containerStatuses.find(named) ?? observed.initContainerStatuses.find(named);
}

export function workerSpecOf(target: TargetRecord, { container, probeType, probe }: SpecProbe): WorkerSpec {
  const { restartPolicy, restartPolicyRules } = container.spec;
  return {
    probeType,
    initialDelaySeconds: probe.initialDelaySeconds,
    successThreshold: probe.successThreshold,
    failureThreshold: probe.failureThreshold,
    containerKind: container.kind,
    restartPolicy: target.spec.restartPolicy,
    ...(restartPolicy && { containerRestartPolicy: restartPolicy }),
    ...(restartPolicyRules && { restartPolicyRules }),
    ...(target.spec.lifecycle === 'static' && { probesOn: true }),
  };
}

/**
 * The worker with which a new holder continues, as stored in its items. A worker that had ended starts from scratch. A
 * checkpoint counts only for the same uid and streak, and counters only for the same spec.
 */
export function storedWorker(record: ProbeRecord, specDigest: string, checkpoint: CheckpointEntry | undefined): Worker {
  if (record.ended) return newWorker;
  const { containerID, lastResult, onHold } = record;
  const valid = checkpoint?.uid === record.uid && checkpoint.streak === record.streak;
  // Within a streak the run length only grows. The item may be newer than the checkpoint, so the larger one counts.
  const resultRun = valid ? Math.max(checkpoint.resultRun, record.resultRun) : record.resultRun;
  const worker: Worker = { containerID, resultRun, onHold, ...(lastResult && { lastResult }) };
  return record.specDigest === specDigest ? worker : withoutRun(worker);
}
