/** worker-named.jsonl, worker-random.jsonl: one probe worker, call by call. */
import { emptyContainerID } from '../../shared/core/kubelet/container-id.ts';
import {
  decideGate,
  newWorker,
  type PodView,
  reduce,
  type WorkerSpec,
  type WorkerState,
} from '../../shared/core/kubelet/worker.ts';
import type { ProbeOutcome } from '../../shared/core/spec/types.ts';
import { probe } from '../../shared/prober/probe.ts';
import { applyActions, type Cache, type Update } from './cache.ts';
import { compare } from './compare.ts';
import { answering } from './prober.ts';
import type { VectorRunner } from './runner.ts';
import { era, type FlatStatus, flatStatus, type VectorEra } from './status-decode.ts';

type RecordedContainer = Omit<FlatStatus, 'name' | 'ready'> & { readonly present?: boolean };

type RecordedStep = {
  readonly at: number;
  readonly pod: {
    readonly statusKnown?: boolean;
    readonly phase?: PodView['phase'];
    readonly deletionTimestampSet?: boolean;
    readonly allContainersRestarting?: boolean;
    readonly container?: RecordedContainer;
  };
  readonly probe?: { readonly result?: ProbeOutcome; readonly error?: boolean };
  readonly expect: unknown;
};

type Thresholds = Pick<WorkerSpec, 'initialDelaySeconds' | 'successThreshold' | 'failureThreshold'>;

type WorkerVector = VectorEra &
  Omit<WorkerSpec, keyof Thresholds> & {
    readonly spec: Partial<Thresholds>;
    readonly steps: readonly RecordedStep[];
  };

type Session = { readonly worker: WorkerState; readonly cache: Cache };

type Called = {
  readonly session: Session;
  readonly probed: boolean;
  readonly attempts: number;
  readonly keepGoing: boolean;
  readonly updates: readonly Update[];
};

export const runWorker: VectorRunner = async (vector) => {
  const recorded = vector as unknown as WorkerVector;
  let session: Session = { worker: newWorker, cache: new Map() };
  for (const [index, step] of recorded.steps.entries()) {
    const called = await call(recorded, session, step);
    session = called.session;
    const different = compare(`step ${index}`, observed(called), step.expect);
    if (different) return different;
  }
  return undefined;
};

async function call(vector: WorkerVector, { worker, cache }: Session, step: RecordedStep): Promise<Called> {
  const spec = specOf(vector);
  const gate = decideGate(spec, worker, podView(step.pod, vector), step.at * 1000, era(vector));
  const gated = applyActions(cache, gate.actions);
  if (gate.kind !== 'probe') {
    const session = { worker: gate.worker, cache: gated.cache };
    return { session, probed: false, attempts: 0, keepGoing: gate.kind === 'skip', updates: gated.updates };
  }
  const { result, attempts } = await ask(vector, step);
  const reduced = result === undefined ? { worker: gate.worker, actions: [] } : reduce(spec, gate.worker, result);
  const applied = applyActions(gated.cache, reduced.actions);
  const session = { worker: reduced.worker, cache: applied.cache };
  return { session, probed: true, attempts, keepGoing: true, updates: [...gated.updates, ...applied.updates] };
}

async function ask(vector: WorkerVector, step: RecordedStep) {
  const { result = 'unknown', error } = step.probe ?? {};
  const report = await probe(answering([{ result, ...(error && { error: 'errors' }) }], []), {
    probeType: vector.probeType,
    containerKind: vector.containerKind,
    target: { namespace: 'ns', name: 'pod', uid: 'uid-1' },
    host: '10.0.0.7',
    container: { name: 'target' },
    handler: { exec: { command: ['true'] }, timeoutSeconds: 1 },
  });
  const { conclusion } = report;
  return { result: conclusion.kind === 'result' ? conclusion.result : undefined, attempts: report.attempts.length };
}

function observed({ session: { worker, cache }, probed, attempts, keepGoing, updates }: Called): unknown {
  return {
    probed,
    attempts,
    keepGoing,
    cached: cache.get(worker.containerID || emptyContainerID) ?? null,
    cacheSize: cache.size,
    updates,
    onHold: worker.onHold,
    resultRun: worker.resultRun,
    // kubelet's zero value, which equals a first success.
    lastResult: worker.lastResult ?? 'success',
  };
}

function specOf(vector: WorkerVector): WorkerSpec {
  const { steps: _steps, gates: _gates, spec, ...rest } = vector;
  return { ...rest, initialDelaySeconds: 0, successThreshold: 0, failureThreshold: 0, ...spec };
}

function podView(pod: RecordedStep['pod'], vector: WorkerVector): PodView | undefined {
  if (!pod.statusKnown) return undefined;
  const { present = false, ...status } = pod.container ?? {};
  return {
    phase: pod.phase ?? 'Unknown',
    deletionTimestampSet: pod.deletionTimestampSet ?? false,
    allContainersRestarting: pod.allContainersRestarting ?? false,
    ...(present && { container: flatStatus({ ...status, name: vector.containerKind }) }),
  };
}
