/** manager.jsonl: which workers exist after add, stop, remove and clean-up; every probe succeeds at once. */
import { applyActions, emptyCache, type ResultsCache, removeResult } from '../../shared/core/results.ts';
import type { ContainerSpec, Probe } from '../../shared/core/spec.ts';
import { dueMs, passTime, startTicker, type Ticker, takeWake } from '../../shared/core/ticker.ts';
import type { ContainerStatus, Phase, ProbeType } from '../../shared/core/types.ts';
import {
  type CacheAction,
  decideGate,
  newWorker,
  type PodView,
  reduce,
  type Worker,
  type WorkerSpec,
} from '../../shared/core/worker.ts';
import {
  addPod,
  cleanupPods,
  type ProbedPod,
  removePod,
  stopLivenessAndStartup,
  type WorkerKey,
  workerKey,
} from '../../shared/core/workers.ts';
import { compare } from './compare.ts';
import type { VectorRunner } from './runner.ts';

type RecordedContainer = {
  readonly name: string;
  readonly restartPolicy?: 'Always';
  readonly probes?: readonly ProbeType[];
};

type RecordedPod = {
  readonly uid: string;
  readonly initContainers?: readonly RecordedContainer[];
  readonly containers?: readonly RecordedContainer[];
};

type Op = { readonly expect: unknown } & (
  | { readonly op: 'addPod'; readonly pod: RecordedPod }
  | { readonly op: 'removePod' | 'stopLivenessAndStartup'; readonly podUID: string }
  | { readonly op: 'cleanupPods'; readonly desired?: readonly string[] }
  | { readonly op: 'setPhase'; readonly podUID: string; readonly phase: Phase }
  | { readonly op: 'advance'; readonly seconds: number }
);

type KnownPod = ProbedPod & { phase: Phase; readonly statuses: readonly ContainerStatus[] };

type RunningWorker = {
  readonly uid: string;
  readonly container: string;
  readonly spec: WorkerSpec;
  worker: Worker;
  ticker: Ticker;
};

/** Everything of the simulated agent; only this file changes it. */
type Agent = {
  nowMs: number;
  readonly pods: Map<string, KnownPod>;
  readonly workers: Map<WorkerKey, RunningWorker>;
  readonly caches: Record<ProbeType, ResultsCache>;
};

export const runManager: VectorRunner = (vector) => {
  const caches = { liveness: emptyCache, readiness: emptyCache, startup: emptyCache };
  const agent: Agent = { nowMs: 0, pods: new Map(), workers: new Map(), caches };
  for (const [index, op] of (vector.ops as readonly Op[]).entries()) {
    apply(agent, op);
    runUntil(agent, agent.nowMs);
    const different = compare(`op ${index} (${op.op})`, observed(agent), op.expect);
    if (different) return different;
  }
  return undefined;
};

function apply(agent: Agent, op: Op): void {
  switch (op.op) {
    case 'addPod':
      add(agent, op.pod);
      break;
    case 'removePod':
      stop(agent, ofPod(agent, op.podUID, removePod));
      break;
    case 'stopLivenessAndStartup':
      stop(agent, ofPod(agent, op.podUID, stopLivenessAndStartup));
      break;
    case 'cleanupPods':
      stop(agent, cleanupPods(new Set(agent.workers.keys()), new Set(op.desired ?? [])));
      break;
    case 'setPhase': {
      const pod = agent.pods.get(op.podUID);
      if (pod) pod.phase = op.phase;
      break;
    }
    case 'advance':
      runUntil(agent, agent.nowMs + op.seconds * 1000);
      break;
  }
}

function ofPod(agent: Agent, uid: string, stopped: typeof removePod): readonly WorkerKey[] {
  const pod = agent.pods.get(uid);
  return pod ? stopped(new Set(agent.workers.keys()), pod) : [];
}

const periodMs = 10_000;

function add(agent: Agent, recorded: RecordedPod): void {
  const pod = knownPod(recorded);
  const added = addPod(new Set(agent.workers.keys()), pod, 'return');
  agent.pods.set(pod.uid, pod);
  for (const { container, probeType, probe } of added) {
    agent.workers.set(workerKey(pod.uid, container.spec.name, probeType), {
      uid: pod.uid,
      container: container.spec.name,
      spec: { ...probe, probeType, containerKind: container.kind, restartPolicy: 'Always' },
      worker: newWorker,
      ticker: startTicker(agent.nowMs, periodMs),
    });
  }
}

/** A worker that ends removes its cached result and itself. */
function stop(agent: Agent, keys: readonly WorkerKey[]): void {
  for (const key of keys) {
    const ended = agent.workers.get(key);
    if (!ended) continue;
    const { probeType } = ended.spec;
    agent.caches[probeType] = removeResult(agent.caches[probeType], ended.worker.containerID);
    agent.workers.delete(key);
  }
}

function runUntil(agent: Agent, untilMs: number): void {
  for (;;) {
    const [next] = [...agent.workers].sort(
      ([, a], [, b]) => dueMs(a.ticker, agent.nowMs) - dueMs(b.ticker, agent.nowMs),
    );
    const nextMs = next ? dueMs(next[1].ticker, agent.nowMs) : Number.POSITIVE_INFINITY;
    if (!next || nextMs > untilMs) break;
    agent.nowMs = nextMs;
    doProbe(agent, ...next);
  }
  agent.nowMs = untilMs;
}

function doProbe(agent: Agent, key: WorkerKey, running: RunningWorker): void {
  running.ticker = takeWake(passTime(running.ticker, agent.nowMs), 'tick', agent.nowMs);
  const era = { changeContainerStatusOnKubeletRestart: false, kubeletStartMs: -3_600_000 };
  const gate = decideGate(running.spec, running.worker, podView(agent, running), agent.nowMs, era);
  take(agent, running, gate);
  if (gate.kind === 'probe') take(agent, running, reduce(running.spec, gate.worker, 'success'));
  if (gate.kind === 'stop') stop(agent, [key]);
}

function take(
  agent: Agent,
  running: RunningWorker,
  step: { readonly worker: Worker; readonly actions: readonly CacheAction[] },
): void {
  const { probeType } = running.spec;
  running.worker = step.worker;
  agent.caches[probeType] = applyActions(agent.caches[probeType], step.actions).cache;
}

function podView(agent: Agent, running: RunningWorker): PodView | undefined {
  const pod = agent.pods.get(running.uid);
  if (!pod) return undefined;
  const container = pod.statuses.find(({ name }) => name === running.container);
  const { phase } = pod;
  return { phase, deletionTimestampSet: false, allContainersRestarting: false, ...(container && { container }) };
}

function knownPod({ uid, containers = [], initContainers = [] }: RecordedPod): KnownPod {
  const spec = { containers: containers.map(containerOf), initContainers: initContainers.map(containerOf) };
  const statuses = [...containers, ...initContainers].map((container) => statusOf(uid, container));
  return { uid, spec, phase: 'Running', statuses };
}

function containerOf({ name, restartPolicy, probes = [] }: RecordedContainer): ContainerSpec {
  return {
    name,
    ...(restartPolicy && { restartPolicy }),
    ...Object.fromEntries(probes.map((probeType) => [`${probeType}Probe`, recordedProbe])),
  };
}

const recordedProbe: Probe = {
  exec: { command: ['true'] },
  initialDelaySeconds: 0,
  periodSeconds: periodMs / 1000,
  timeoutSeconds: 1,
  successThreshold: 1,
  failureThreshold: 3,
};

/** Running since the vector's start; nothing here computes `started`, so a startup success does not open the gate. */
function statusOf(uid: string, { name, probes = [] }: RecordedContainer): ContainerStatus {
  return {
    name,
    containerID: `test://${uid}-${name}`,
    state: { kind: 'running', startedAtMs: 0 },
    ready: false,
    started: !probes.includes('startup'),
    restartCount: 0,
  };
}

function observed(agent: Agent): unknown {
  const cacheOf = (probeType: ProbeType) => Object.fromEntries(agent.caches[probeType]);
  return {
    workers: [...agent.workers.keys()].sort(),
    caches: { liveness: cacheOf('liveness'), readiness: cacheOf('readiness'), startup: cacheOf('startup') },
  };
}
