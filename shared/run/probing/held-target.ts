/** What the holder of a shard keeps in memory of each target: its records as committed, its view of the pod, its workers. */

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

/** The part of a held probe that its target's spec decides. Only workers.ts replaces it. */
export type HeldSpec = {
  readonly container: PlacedContainer;
  readonly probe: Probe;
  readonly worker: WorkerSpec;
  readonly digest: string;
  /** The probe has left the spec, or its target terminates: the next step ends the worker. */
  readonly stopping: boolean;
};

/** A worker: three parts, each written by one file. */
export type HeldProbe = {
  readonly name: ProbeName;
  readonly probeType: ProbeType;
  readonly labels: ProbeMetricLabels;
  readonly spec: HeldSpec;
  readonly schedule: ProbeSchedule;
  readonly verdict: ProbeVerdict;
};

/** A commit that STATUS has not acked as far as is known. */
export type Unacked = {
  readonly version: number;
  /** Absent: committed by another run, which may have ended before it told of it. */
  readonly event?: BusEvent;
  readonly publishedAtMs: number;
};

export type HeldTarget = {
  readonly address: TargetAddress;
  target: TargetRecord;
  report: ReportRecord | undefined;
  hang: HangRecord | undefined;
  status: StatusRecord;
  /** Every PROBE item of the uid, also those whose worker has ended. */
  readonly records: Map<ProbeName, ProbeRecord>;
  readonly probes: Map<ProbeName, HeldProbe>;
  readonly unacked: Map<ProbeName, Unacked>;
  observed: Observed;
  /** When status-sync was last asked for, and which entry of the timer heap is the valid one. */
  syncAskedAtMs: number;
  wake: number;
  /** No longer held: purged, or another incarnation took its name. */
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

/** What a new holder does not know to have been told: its predecessor may have ended in between. */
export function unackedOf({ status, probes }: Pick<TargetState, 'status' | 'probes'>): HeldTarget['unacked'] {
  const open = Object.entries(probes).filter(([name, { version }]) => !isAcked(status, name, version));
  return new Map(
    open.map(([name, { version }]) => [name, { version, publishedAtMs: Number.NEGATIVE_INFINITY }] as const),
  );
}

/** Computes the view anew; returns the readiness workers whose container has started since, which probe at once. */
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
 * The worker with which a new holder goes on: as its items have it; one that had ended begins anew. A checkpoint counts only for the same uid and streak; counters of
 * another spec do not.
 */
export function storedWorker(record: ProbeRecord, specDigest: string, checkpoint: CheckpointEntry | undefined): Worker {
  if (record.ended) return newWorker;
  const { containerID, lastResult, onHold } = record;
  const valid = checkpoint?.uid === record.uid && checkpoint.streak === record.streak;
  // Within a streak the run only grows, and the item may be newer than the checkpoint.
  const resultRun = valid ? Math.max(checkpoint.resultRun, record.resultRun) : record.resultRun;
  const worker: Worker = { containerID, resultRun, onHold, ...(lastResult && { lastResult }) };
  return record.specDigest === specDigest ? worker : withoutRun(worker);
}
