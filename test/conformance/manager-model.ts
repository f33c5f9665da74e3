/**
 * What the manager vectors expect, with and without the numbered differences of docs/semantics.md. Without any it has
 * to say what was recorded of kubelet; with all of them, what the product does. It decides nothing of a probe: that is
 * core's.
 */
import {
  dueMs,
  holdTick,
  holdTrigger,
  newTargetTicker,
  passTime,
  readyWakes,
  spaceOut,
  type Ticker,
  takeWake,
} from '../../shared/core/kubelet/ticker.ts';
import {
  type CacheAction,
  decideGate,
  type Gate,
  newWorker,
  type PodView,
  reduce,
  type WorkerState,
} from '../../shared/core/kubelet/worker.ts';
import {
  type ContainerSpec,
  placedContainers,
  probeName,
  type SpecProbe,
  specProbes,
} from '../../shared/core/spec/spec.ts';
import { type Phase, type ProbeType, probeTypes, type Result } from '../../shared/core/spec/types.ts';
import { phasedOf } from '../../shared/holder/probing/held-spec.ts';
import { targetRecordOf } from '../support/pods.ts';
import { containerIDOf, type Observed, type Op, observedOf, type RecordedPod, specOfPod } from './manager-vector.ts';

/** The numbers of docs/semantics.md. */
export const differences = {
  addsBesideExisting: 2,
  changesInPlace: 3,
  hashedPhase: 7,
  onlyVerdicts: 22,
  terminationIsFinal: 23,
  opensTheGate: 24,
} as const;

type Pod = {
  readonly uid: string;
  readonly spec: ReturnType<typeof specOfPod>;
  phase: Phase;
  isTerminating: boolean;
  /** Containers that had started when the pod was last looked at. */
  started: ReadonlyMap<string, boolean>;
};

type Running = SpecProbe & {
  readonly uid: string;
  worker: WorkerState;
  ticker: Ticker;
  cached: Extract<CacheAction, { kind: 'set' }> | undefined;
  /** It has ended before, and has not looked at its pod since: until then a startup worker does not count as there. */
  comesBack: boolean;
  /** It takes its turn again. */
  pending: boolean;
};

export function managerModel(startMs: number, applied: ReadonlySet<number>) {
  const has = (difference: keyof typeof differences) => applied.has(differences[difference]);
  const pods = new Map<string, Pod>();
  const workers = new Map<string, Running>();
  const ended = new Set<string>();
  let nowMs = startMs;

  const keyOf = (uid: string, container: string, probeType: ProbeType) => `${uid}/${probeName(container, probeType)}`;

  function addPod(recorded: RecordedPod): void {
    const { uid } = recorded;
    const before = pods.get(uid);
    if (before?.isTerminating) return;
    const pod: Pod = { uid, spec: specOfPod(recorded), phase: 'Running', isTerminating: false, started: new Map() };
    pods.set(uid, pod);
    const wanted = specProbes(pod.spec);
    if (has('changesInPlace'))
      stop(
        [...workers].flatMap(([key, { uid: of, name }]) =>
          of === uid && !wanted.some((one) => one.name === name) ? key : [],
        ),
      );
    pod.started = before?.started ?? new Map();
    look(pod);
    for (const entry of wanted) {
      const key = keyOf(uid, entry.container.spec.name, entry.probeType);
      if (!workers.has(key)) workers.set(key, runningOf(uid, entry));
      else if (!has('addsBesideExisting')) break;
    }
    look(pod);
  }

  function runningOf(uid: string, entry: SpecProbe): Running {
    const periodMs = entry.probe.periodSeconds * 1000;
    const phased = phasedOf(targetRecordOf({ name: uid }), entry.name, entry.probe.periodSeconds);
    const ticker = newTargetTicker(nowMs, has('hashedPhase') ? phased : { phaseMs: nowMs % periodMs, periodMs });
    const comesBack = ended.has(keyOf(uid, entry.container.spec.name, entry.probeType));
    return { ...entry, uid, worker: newWorker, ticker, cached: undefined, comesBack, pending: false };
  }

  /** Every worker of these containers, of these types. */
  const ofContainers = (uid: string, containers: readonly ContainerSpec[], types: readonly ProbeType[]) =>
    containers.flatMap(({ name }) => types.map((probeType) => keyOf(uid, name, probeType)));

  /** A worker that ends removes its cached result and itself. */
  function stop(keys: readonly string[]): void {
    for (const key of keys) if (workers.delete(key)) ended.add(key);
  }

  function removePod(uid: string): void {
    const pod = pods.get(uid);
    if (!pod) return;
    const probed = placedContainers(pod.spec).filter(({ kind }) => kind !== 'init');
    stop(
      ofContainers(
        uid,
        probed.map(({ spec }) => spec),
        probeTypes,
      ),
    );
    forget(pod);
  }

  /** kubelet's workers that a spec has lost go on, and see the pod. */
  function forget(pod: Pod): void {
    pod.isTerminating = false;
    if (has('changesInPlace')) pods.delete(pod.uid);
    for (const key of [...ended]) if (key.startsWith(`${pod.uid}/`)) ended.delete(key);
  }

  function cleanupPods(desired: ReadonlySet<string>): void {
    stop([...workers].flatMap(([key, { uid }]) => (desired.has(uid) ? [] : key)));
    for (const pod of [...pods.values()]) if (!desired.has(pod.uid)) forget(pod);
  }

  function stopLivenessAndStartup(uid: string): void {
    const pod = pods.get(uid);
    if (!pod) return;
    stop(ofContainers(uid, pod.spec.containers, ['liveness', 'startup']));
    pod.isTerminating = has('terminationIsFinal');
    look(pod);
  }

  /** kubelet's sync loop sets `started`, of which the recording has nothing; the holder sets it itself. */
  function isStarted(pod: Pod, name: string): boolean {
    if (!has('opensTheGate')) return !hasStartupProbe(pod, name);
    const startup = workers.get(keyOf(pod.uid, name, 'startup'));
    return !startup || startup.comesBack || startup.cached?.result === 'success';
  }

  const hasStartupProbe = ({ spec }: Pod, container: string) =>
    [...spec.containers, ...spec.initContainers].some(({ name, startupProbe }) => name === container && startupProbe);

  /** A container that has just started triggers its readiness worker (difference 8). */
  function look(pod: Pod): void {
    const { spec } = pod;
    const now = placedContainers(spec).map(({ spec: { name } }) => [name, isStarted(pod, name)] as const);
    for (const [name, started] of now) {
      const readiness = workers.get(keyOf(pod.uid, name, 'readiness'));
      const hasJustStarted = has('opensTheGate') && started && pod.started.get(name) === false;
      if (readiness && hasJustStarted && verdict(readiness) !== 'success')
        readiness.ticker = holdTrigger(readiness.ticker);
    }
    pod.started = new Map(now);
  }

  const verdict = ({ cached }: Running): Result | undefined => (cached?.initial ? undefined : cached?.result);

  function runUntil(untilMs: number): void {
    for (;;) {
      const nextMs = Math.min(...[...workers.values()].map(({ ticker }) => dueMs(ticker, nowMs)));
      if (nextMs > untilMs) break;
      nowMs = Math.max(nowMs, nextMs);
      doProbes([...workers].filter(([, { ticker }]) => dueMs(ticker, nowMs) <= nowMs));
    }
    nowMs = untilMs;
  }

  /** What is due at the same instant looks at the pod before any of it has a result. */
  function doProbes(due: readonly (readonly [string, Running])[]): void {
    const era = { changeContainerStatusOnKubeletRestart: false, kubeletStartMs: startMs - 3_600_000 };
    const asked = due.filter(([key, running]) => {
      const ticker = passTime(running.ticker, nowMs);
      const taken = takeWake(ticker, readyWakes(ticker).at(-1) ?? 'tick', nowMs);
      running.ticker = running.pending ? spaceOut(taken, nowMs) : taken;
      const gate = decideGate(workerSpec(running), running.worker, podView(running), nowMs, era);
      running.pending = goesAgain(running, gate);
      if (running.pending) running.ticker = holdTick(running.ticker);
      take(running, gate);
      if (gate.kind === 'stop') stop([key]);
      return gate.kind === 'probe' && !running.pending;
    });
    for (const [, running] of due) running.comesBack = false;
    for (const [, running] of asked) take(running, reduce(workerSpec(running), running.worker, 'success'));
    for (const pod of pods.values()) look(pod);
  }

  /** The holder commits that a container or its worker is new, and then takes its turn again. */
  function goesAgain({ comesBack }: Running, gate: Gate): boolean {
    if (gate.kind !== 'probe') return comesBack && gate.reason === 'Started';
    return has('hashedPhase') && (comesBack || gate.actions.length > 0);
  }

  const workerSpec = ({ probe, probeType, container }: Running) =>
    ({ ...probe, probeType, containerKind: container.kind, restartPolicy: 'Always' }) as const;

  function take(
    running: Running,
    step: { readonly worker: WorkerState; readonly actions: readonly CacheAction[] },
  ): void {
    running.worker = step.worker;
    for (const action of step.actions) running.cached = action.kind === 'set' ? action : undefined;
  }

  function podView({ uid, container }: Running): PodView | undefined {
    const pod = pods.get(uid);
    if (!pod) return undefined;
    const { name } = container.spec;
    const status = placedContainers(pod.spec).some(({ spec }) => spec.name === name) && {
      name,
      containerID: containerIDOf(uid, name),
      state: { kind: 'running' as const, startedAtMs: startMs },
      ready: false,
      started: isStarted(pod, name),
      restartCount: 0,
    };
    const { phase, isTerminating } = pod;
    return {
      phase,
      deletionTimestampSet: isTerminating,
      allContainersRestarting: false,
      ...(status && { container: status }),
    };
  }

  function apply(op: Op): void {
    switch (op.op) {
      case 'addPod':
        addPod(op.pod);
        break;
      case 'removePod':
        removePod(op.podUID);
        break;
      case 'stopLivenessAndStartup':
        stopLivenessAndStartup(op.podUID);
        break;
      case 'cleanupPods':
        cleanupPods(new Set(op.desired));
        break;
      case 'setPhase': {
        const pod = pods.get(op.podUID);
        if (pod) pod.phase = op.phase;
        break;
      }
      case 'advance':
        runUntil(nowMs + op.seconds * 1000);
        break;
    }
  }

  return {
    /** What is seen after the op has settled. `untilMs`: which was then; absent: it takes no time. */
    after(op: Op, untilMs?: number): Observed {
      apply(op);
      runUntil(untilMs ?? nowMs);
      const results = [...workers.values()].flatMap(({ probeType, cached }) =>
        cached && !(cached.initial && has('onlyVerdicts')) ? [{ ...cached, probeType }] : [],
      );
      return observedOf(
        [...workers.values()].map(({ uid, container, probeType }) => ({
          uid,
          container: container.spec.name,
          probeType,
        })),
        results,
      );
    },
  };
}
