/**
 * What the holder of a shard keeps in memory for each target: its committed records, its view of the pod and its
 * workers.
 */

import { createHash } from 'node:crypto';
import type { BusEvent } from '../../bus/events.ts';
import { newWorker, type PodView, type Worker, type WorkerSpec } from '../../core/kubelet/worker.ts';
import { type Reach, reachOf } from '../../core/self/health.ts';
import { dialledHost } from '../../core/spec/handlers.ts';
import type {
  HangRecord,
  ProbeRecord,
  ReportRecord,
  StatusRecord,
  TargetRecord,
  TargetState,
} from '../../core/spec/records.ts';
import type { PlacedContainer, Probe, ProbeName, SpecProbe } from '../../core/spec/spec.ts';
import type { ContainerStatus, ProbeType } from '../../core/spec/types.ts';
import { type Observed, observe } from '../../core/status/observed.ts';
import type { HeapItem } from '../../lib/heap.ts';
import type { ProbeMetricLabels } from '../../prober/metrics.ts';
import type { ProbeOrder } from '../../prober/probe.ts';
import { isAcked } from '../../status-sync/sync.ts';
import type { CheckpointEntry } from '../../store/records/items.ts';
import type { TargetAddress } from '../../store/records/keys.ts';
import { hungProbeName } from './hung-probe.ts';
import type { ProbeSchedule } from './probe-schedule.ts';
import { type ProbeVerdict, withoutRun } from './probe-verdict.ts';
import type { Place } from './sockets.ts';

/** The part of a held probe that follows from its target's spec. Only workers.ts replaces it. */
export type HeldSpec = {
  readonly container: PlacedContainer;
  readonly probe: Probe;
  readonly order: ProbeOrder;
  readonly worker: WorkerSpec;
  readonly digest: string;
  /** What the watchdog calls the probe. */
  readonly workName: string;
  /** The canaries that cover the probe; absent: it runs a command, which has what the process says. */
  readonly reach?: Reach | undefined;
  /** The probe has left the spec, or its target is terminating. The next step ends the worker. */
  readonly stopping: boolean;
};

/** When it is the turn of a probe, or of the target itself if `probe` is absent. The loop sets it. */
export type Turn = HeapItem & { readonly held: HeldTarget; readonly probe?: HeldProbe };

/** A worker in three parts, each written by one file. */
export type HeldProbe = {
  readonly name: ProbeName;
  /** Made and used by the loop. */
  turn?: Turn;
  readonly probeType: ProbeType;
  readonly labels: ProbeMetricLabels;
  readonly spec: HeldSpec;
  readonly schedule: ProbeSchedule;
  readonly verdict: ProbeVerdict;
};

/** A probe that is due, with its place in the socket budget. */
export type Due = { readonly probe: HeldProbe; readonly place: Place };

/** A commit that, as far as this run knows, STATUS has not acked. */
export type Unacked = {
  readonly version: number;
  /** Absent if another run made the commit. That run may have ended before it published the event. */
  readonly event?: BusEvent;
  readonly publishedAtMs: number;
  /** When this run committed or read the first change that STATUS has not taken in, monotonic ms. */
  readonly sinceMs: number;
};

export type HeldTarget = {
  readonly address: TargetAddress;
  /** Made and used by the loop. */
  turn?: Turn;
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
  /** Its place in the line of targets for which something is to be published again. Absent: it does not wait. */
  ticket?: number | undefined;
  /** No longer held: the target was purged, or one with another uid took its name. */
  gone: boolean;
};

/** The turn of this probe, or of the target itself. */
export function turnOf(held: HeldTarget, probe?: HeldProbe): Turn {
  const of = probe ?? held;
  of.turn ??= { dueMs: Number.POSITIVE_INFINITY, heapPlace: -1, held, ...(probe && { probe }) };
  return of.turn;
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
export function podView(held: Pick<HeldTarget, 'observed' | 'target'>, container: string): PodView {
  const status = containerStatus(held.observed, container);
  return {
    phase: held.observed.phase,
    deletionTimestampSet: held.target.deletionTimestampMs !== undefined,
    allContainersRestarting: false,
    container: status,
  };
}

export function containerStatus(observed: Observed, container: string): ContainerStatus | undefined {
  const named = (status: ContainerStatus) => status.name === container;
  return observed.containerStatuses.find(named) ?? observed.initContainerStatuses.find(named);
}

// Between a held target and the stored items: what a holder makes of them, and the state that it has of them.

export function stateOf(held: Pick<HeldTarget, 'target' | 'report' | 'status' | 'records'>): TargetState {
  return {
    target: held.target,
    status: held.status,
    probes: Object.fromEntries(held.records),
    ...(held.report && { report: held.report }),
  };
}

/** Commits that a new holder cannot know to be published: its predecessor may have ended before it published them. */
export function unackedOf(
  { status, probes }: Pick<TargetState, 'status' | 'probes'>,
  sinceMs: number,
): HeldTarget['unacked'] {
  const open = Object.entries(probes).filter(([name, { version }]) => !isAcked(status, name, version));
  return new Map(
    open.map(([name, { version }]) => [name, { version, publishedAtMs: Number.NEGATIVE_INFINITY, sinceMs }] as const),
  );
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

// What a holder makes of a probe's spec, once for all of its probes.

export function heldSpecOf(target: TargetRecord, entry: SpecProbe): HeldSpec {
  const dialled = dialledHost(entry.probe, target.spec.host);
  return {
    container: entry.container,
    probe: entry.probe,
    order: orderOf(target, entry),
    worker: workerSpecOf(target, entry),
    digest: specDigestOf(entry),
    workName: hungProbeName(target, entry),
    reach: dialled === undefined ? undefined : reachOf(dialled),
    stopping: false,
  };
}

export function orderOf({ namespace, name, uid, spec }: TargetRecord, entry: SpecProbe): ProbeOrder {
  const { container, probe, probeType } = entry;
  return {
    target: { namespace, name, uid },
    host: spec.host,
    container: container.spec,
    handler: probe,
    probeType,
    containerKind: container.kind,
  };
}

const digestDigits = 16;

/** Digest of a probe's spec. It does not depend on the order in which a store returns the attributes. */
export function specDigestOf({ probe }: SpecProbe): string {
  return createHash('sha256').update(sortedJson(probe)).digest('hex').slice(0, digestDigits);
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
