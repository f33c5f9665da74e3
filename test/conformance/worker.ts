/** worker-named.jsonl, worker-random.jsonl: one probe worker, call by call. */
import { emptyContainerID } from '../../shared/core/container-id.ts';
import type { ContainerState, ContainerStatus, Era, ProbeOutcome } from '../../shared/core/types.ts';
import { decideGate, newWorker, type PodView, reduce, type Worker, type WorkerSpec } from '../../shared/core/worker.ts';
import { probe } from '../../shared/prober/probe.ts';
import { applyActions, type Cache, type Update } from './cache.ts';
import { compare } from './compare.ts';
import { answering } from './prober.ts';
import type { VectorRunner } from './runner.ts';

type RecordedContainer = {
  readonly present?: boolean;
  readonly containerID?: string;
  readonly state?: 'running' | 'terminated' | 'waiting' | 'none';
  readonly startedAt?: number;
  readonly exitCode?: number;
  readonly started?: boolean | null;
};

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

type WorkerVector = Omit<WorkerSpec, 'initialDelaySeconds' | 'successThreshold' | 'failureThreshold'> & {
  readonly spec: Partial<Pick<WorkerSpec, 'initialDelaySeconds' | 'successThreshold' | 'failureThreshold'>>;
  readonly kubeletStart?: number;
  readonly gates: { readonly ChangeContainerStatusOnKubeletRestart?: boolean };
  readonly steps: readonly RecordedStep[];
};

type Session = { readonly worker: Worker; readonly cache: Cache };

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
  const gate = decideGate(spec, worker, podView(step.pod, vector), step.at * 1000, eraOf(vector));
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
    // kubelet's zero value; nobody can tell it from a first success.
    lastResult: worker.lastResult ?? 'success',
  };
}

function specOf(vector: WorkerVector): WorkerSpec {
  const { steps: _steps, gates: _gates, spec, ...rest } = vector;
  return { ...rest, initialDelaySeconds: 0, successThreshold: 0, failureThreshold: 0, ...spec };
}

function eraOf({ gates, kubeletStart = 0 }: WorkerVector): Era {
  return {
    changeContainerStatusOnKubeletRestart: gates.ChangeContainerStatusOnKubeletRestart ?? false,
    kubeletStartMs: kubeletStart * 1000,
  };
}

function podView(pod: RecordedStep['pod'], vector: WorkerVector): PodView | undefined {
  if (!pod.statusKnown) return undefined;
  const container = pod.container?.present ? statusOf(pod.container, vector) : undefined;
  return {
    phase: pod.phase ?? 'Unknown',
    deletionTimestampSet: pod.deletionTimestampSet ?? false,
    allContainersRestarting: pod.allContainersRestarting ?? false,
    ...(container && { container }),
  };
}

function statusOf(container: RecordedContainer, vector: WorkerVector): ContainerStatus {
  const state = stateOf(container);
  return {
    name: vector.containerKind,
    containerID: container.containerID ?? '',
    ...(state && { state }),
    ready: false,
    started: container.started ?? null,
    restartCount: 0,
  };
}

function stateOf({ state, startedAt = 0, exitCode = 0 }: RecordedContainer): ContainerState | undefined {
  switch (state) {
    case 'running':
      return { kind: 'running', startedAtMs: startedAt * 1000 };
    case 'terminated':
      return { kind: 'terminated', exitCode };
    case 'waiting':
      return { kind: 'waiting' };
    default:
      return undefined;
  }
}
