/** Between a held target and the stored items: what a holder makes of them, and the state that it has of them. */

import { newWorker, type Worker, type WorkerSpec } from '../../core/kubelet/worker.ts';
import type { ProbeRecord, TargetRecord, TargetState } from '../../core/spec/records.ts';
import type { SpecProbe } from '../../core/spec/spec.ts';
import { isAcked } from '../../status-sync/write-status.ts';
import type { CheckpointEntry } from '../../store/records/items.ts';
import type { HeldTarget } from './held.ts';
import { withoutRun } from './probe-verdict.ts';

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
