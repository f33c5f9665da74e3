/** What a holder makes of a probe's spec and of its stored items, once for all probes of a worker. */
import { createHash } from 'node:crypto';
import { type Phased, phaseOf } from '../../core/kubelet/ticker.ts';
import { newWorker, type WorkerSpec, type WorkerState } from '../../core/kubelet/worker.ts';
import { type Reach, reachOf } from '../../core/self/health.ts';
import { dialledHost } from '../../core/spec/handlers.ts';
import type { ProbeRecord, TargetRecord } from '../../core/spec/records.ts';
import type { PlacedContainer, Probe, ProbeName, SpecProbe } from '../../core/spec/spec.ts';
import { hash32 } from '../../lib/hash32.ts';
import type { ProbeOrder } from '../../prober/probe.ts';
import type { CheckpointEntry } from '../../store/records/shard-records.ts';
import { hungProbeName } from './hung-probe.ts';

/** The part of a worker that follows from its target's spec. */
export type HeldSpec = {
  readonly container: PlacedContainer;
  readonly probe: Probe;
  readonly order: ProbeOrder;
  readonly worker: WorkerSpec;
  readonly digest: string;
  /** What the watchdog calls the probe. */
  readonly workName: string;
  /** The canaries that cover the probe; undefined: it runs a command, which has what the process says. */
  readonly reach: Reach | undefined;
  /** The probe has left the spec, or its target is terminating. The next step ends the worker. */
  readonly stopping: boolean;
};

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

function workerSpecOf(target: TargetRecord, { container, probeType, probe }: SpecProbe): WorkerSpec {
  return {
    probeType,
    initialDelaySeconds: probe.initialDelaySeconds,
    successThreshold: probe.successThreshold,
    failureThreshold: probe.failureThreshold,
    containerKind: container.kind,
    restartPolicy: target.spec.restartPolicy,
    containerRestartPolicy: container.spec.restartPolicy,
    restartPolicyRules: container.spec.restartPolicyRules,
    probesOn: target.spec.lifecycle === 'static',
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

/** Where in its period the instants of a probe lie. */
export const phasedOf = ({ namespace, name }: TargetRecord, probe: ProbeName, periodSeconds: number): Phased =>
  phaseOf(hash32(`${namespace}/${name}#${probe}`), periodSeconds * 1000);

/**
 * The state with which a new holder continues, as stored in its items. A worker that had ended starts from scratch. A
 * checkpoint counts only for the same uid and streak, and counters only for the same spec.
 */
export function storedWorker(
  record: ProbeRecord,
  specDigest: string,
  checkpoint: CheckpointEntry | undefined,
): WorkerState {
  if (record.ended) return newWorker;
  const { containerID, lastResult, onHold } = record;
  const valid = checkpoint?.uid === record.uid && checkpoint.streak === record.streak;
  // Within a streak the run length only grows. The item may be newer than the checkpoint, so the larger one counts.
  const resultRun = valid ? Math.max(checkpoint.resultRun, record.resultRun) : record.resultRun;
  const state: WorkerState = { containerID, resultRun, onHold, lastResult };
  return record.specDigest === specDigest ? state : withoutRun(state);
}

/** The same worker with restarted counters. */
export const withoutRun = ({ containerID, onHold }: WorkerState): WorkerState => ({
  containerID,
  lastResult: undefined,
  resultRun: 0,
  onHold,
});
