/**
 * What is expected of the product after each op of a status-manager vector: what was recorded of kubelet, changed by
 * the numbered differences of docs/semantics.md that apply, and by nothing else.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Condition, ContainerStatus, PodStatus } from '../../shared/core/spec/types.ts';
import { computedConditions } from './status-conditions.ts';
import { status, type VectorContainer, type VectorPod } from './status-decode.ts';
import { type Op, probedContainer, type Recorded, type Seen, type Statuses } from './status-vector.ts';

/** The numbers of docs/semantics.md. */
export const differences = {
  onlyVerdicts: 22,
  terminationIsFinal: 23,
  isWrittenWhereItIsKept: 25,
  isComputed: 26,
  comesWithAReport: 27,
  onlyWorkersGiveVerdicts: 28,
} as const;

type Standing = {
  /** After the op before. */
  readonly shown: PodStatus;
  /** The conditions of others, as the reporter has said them last. */
  readonly reported: readonly Condition[];
};

export function statusExpectation(pods: readonly VectorPod[], applied: ReadonlySet<number>) {
  const has = (difference: keyof typeof differences) => applied.has(differences[difference]);
  const standing = new Map<string, Standing>();
  const cached = new Map<string, Recorded['cached']>();
  /** kubelet's copies of what its API server holds. */
  const copies = new Map<string, PodStatus>();
  const lastVerdicts = startupVerdicts(pods);
  let written: Statuses = {};
  let nowMs = 0;

  /** A recorded status as probelet has it. `before`: the status that it follows. */
  function shown(pod: VectorPod, recorded: PodStatus, reported: readonly Condition[], before?: PodStatus): PodStatus {
    const sinceMs = before?.startTimeMs ?? nowMs;
    const stopped = has('terminationIsFinal') ? lastVerdicts.applied(pod, recorded) : recorded;
    const complete = has('comesWithAReport') ? asReported(pod, stopped, sinceMs) : stopped;
    const others = (has('isWrittenWhereItIsKept') ? reported : recorded.conditions).filter(isOfOthers);
    if (!has('isComputed')) return { ...complete, conditions: [...others, ...recorded.conditions.filter(isComputed)] };
    const judged = { ...withVerdicts(pod, complete), conditions: others };
    const wasInitialized = conditionOf(before, 'Initialized')?.status === 'True';
    const computed = computedConditions(pod, judged, wasInitialized);
    const unknown = has('terminationIsFinal') && has('onlyVerdicts') ? lastVerdicts.unknown(pod, judged) : [];
    const hoped = { ...withVerdicts(pod, startedAll(complete, recorded, unknown)), conditions: others };
    const conditions = [...others, ...doubted(computed, computedConditions(pod, hoped, wasInitialized), unknown)];
    return { ...judged, conditions: conditions.map((each) => (isTimed(each) ? withTime(each, before, nowMs) : each)) };
  }

  function ofPod(pod: VectorPod, op: Op): Pick<Seen, 'published'> {
    const { expect } = op;
    const known = standing.get(pod.uid);
    lastVerdicts.take(pod, op, known !== undefined);
    const repeats =
      expect.updateQueued === true && isDeepStrictEqual(cached.get(pod.uid)?.status, expect.cached?.status);
    cached.set(pod.uid, expect.cached);
    if (!expect.cached) return { published: 0 };
    const reported = op.op === 'setPodStatus' ? status(op.status ?? {}).conditions : (known?.reported ?? []);
    const before = known?.shown ?? (has('isWrittenWhereItIsKept') ? undefined : copies.get(pod.uid));
    const next = shown(pod, status(expect.cached.status), reported, before);
    standing.set(pod.uid, { shown: next, reported });
    const changes = !isDeepStrictEqual(published(known?.shown ?? shown(pod, registered(pod), [])), published(next));
    return { published: changes || (repeats && !has('isWrittenWhereItIsKept')) ? 1 : 0 };
  }

  function forget(kept: readonly string[]): void {
    for (const { uid } of pods.filter((pod) => !kept.includes(pod.uid))) {
      standing.delete(uid);
      cached.delete(uid);
      lastVerdicts.forget(uid);
    }
  }

  const ofAll = (statusOf: (pod: VectorPod, known: Standing) => PodStatus | null): Statuses => {
    const entries = pods.map((pod) => {
      const known = standing.get(pod.uid);
      return [pod.uid, known ? statusOf(pod, known) : null] as const;
    });
    return Object.fromEntries(entries);
  };

  /** Of a pod that never had a status the API server holds the empty one. */
  const server = (api: NonNullable<Recorded['api']>): Statuses =>
    ofAll((pod, known) => {
      const held = api[pod.uid];
      return held ? shown(pod, status(held), known.reported, known.shown) : null;
    });

  return {
    after(op: Op): Seen {
      const pod = pods.find(({ uid }) => uid === op.podUID);
      if (op.op === 'advance') nowMs += (op.seconds ?? 0) * 1000;
      const copy = op.op === 'observePodStatus' && pod && written[pod.uid];
      if (pod && copy) copies.set(pod.uid, copy);
      const called = !has('onlyWorkersGiveVerdicts') || !pod || isOfWorker(pod, cached.get(pod.uid), op);
      const { published: events } = pod ? ofPod(pod, op) : { published: 0 };
      forget(op.expect.cachedUIDs ?? []);
      const statuses = ofAll((_, known) => known.shown);
      if (op.op === 'sync') written = has('isWrittenWhereItIsKept') ? statuses : server(op.expect.api ?? {});
      return { statuses, written: op.op === 'sync' ? written : undefined, published: events, called };
    },
  };
}

/** The status if the startup of these containers had succeeded. */
function startedAll(complete: PodStatus, recorded: PodStatus, names: readonly string[]): PodStatus {
  const all = [...recorded.containerStatuses, ...recorded.initContainerStatuses];
  const hoped = (entry: ContainerStatus): ContainerStatus =>
    names.includes(entry.name)
      ? { ...entry, started: true, ready: all.find(({ name }) => name === entry.name)?.ready === true }
      : entry;
  return {
    ...complete,
    containerStatuses: complete.containerStatuses.map(hoped),
    initContainerStatuses: complete.initContainerStatuses.map(hoped),
  };
}

/** Unknown while a startup is, unless the condition is False even if that had succeeded. */
function doubted(
  computed: readonly Condition[],
  hoped: readonly Condition[],
  unknown: readonly string[],
): readonly Condition[] {
  if (unknown.length === 0) return computed;
  const probes = unknown.map((name) => `${name}#startup`).join(' ');
  const doubt = { reason: 'NotYetProbed', message: `probes with unknown result: [${probes}]` };
  return computed.map((condition) => {
    if (condition.type === 'Initialized') return condition;
    const best = hoped.find(({ type }) => type === condition.type) ?? condition;
    return best.status === 'False' ? best : { ...best, status: 'Unknown', ...doubt };
  });
}

type Startup = { readonly containerID: string; readonly isSuccess: boolean };

/** The startup verdicts that were given before the pod was deleted. Afterwards none counts. */
function startupVerdicts(pods: readonly VectorPod[]) {
  const deletedFirst = pods.filter(({ deletionTimestampSet }) => deletionTimestampSet).map(({ uid }) => uid);
  const deleted = new Set(deletedFirst);
  const verdicts = new Map<string, Startup>();
  const keyOf = (uid: string, container: string) => `${uid}/${container}`;
  const given = (pod: VectorPod, { op, status: said, containerID = '', started = false, expect }: Op) => {
    const after = status(expect.cached?.status ?? {});
    if (op === 'setContainerStartup') {
      const name = probedContainer(pod, after, containerID);
      return name === undefined ? [] : [{ name, containerID, isSuccess: started }];
    }
    const { containerStatuses, initContainerStatuses } = status((op === 'setPodStatus' && said) || {});
    return [...containerStatuses, ...initContainerStatuses]
      .filter(({ state }) => expect.updateQueued && state?.kind === 'running')
      .map((entry) => ({ ...entry, isSuccess: entry.started === true }));
  };
  const of = (pod: VectorPod, entry: ContainerStatus): ContainerStatus => {
    const last = verdicts.get(keyOf(pod.uid, entry.name));
    return { ...entry, started: last?.containerID === entry.containerID && last.isSuccess };
  };
  return {
    /** `isKnown`: the pod has a status, so a target that terminates. */
    take(pod: VectorPod, op: Op, isKnown: boolean): void {
      if (op.op === 'deletePod' && isKnown) deleted.add(pod.uid);
      if (deleted.has(pod.uid)) return;
      for (const { name, containerID, isSuccess } of given(pod, op))
        verdicts.set(keyOf(pod.uid, name), { containerID, isSuccess });
    },
    applied(pod: VectorPod, recorded: PodStatus): PodStatus {
      if (!deleted.has(pod.uid)) return recorded;
      return {
        ...recorded,
        containerStatuses: recorded.containerStatuses.map((entry) => of(pod, entry)),
        initContainerStatuses: recorded.initContainerStatuses.map((entry) => of(pod, entry)),
      };
    },
    /** Containers that run and whose startup has no verdict, in the order of the spec. */
    unknown(pod: VectorPod, { containerStatuses, initContainerStatuses }: PodStatus): readonly string[] {
      if (!deleted.has(pod.uid)) return [];
      const sidecars = (pod.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
      const names = [...(pod.containers ?? []), ...sidecars].map(({ name }) => name);
      return names.filter((name) => {
        const entry = [...containerStatuses, ...initContainerStatuses].find((each) => each.name === name);
        const isRunning = entry?.state?.kind === 'running';
        return isRunning && verdicts.get(keyOf(pod.uid, name))?.containerID !== entry.containerID;
      });
    },
    forget(uid: string): void {
      if (!deletedFirst.includes(uid)) deleted.delete(uid);
      for (const key of [...verdicts.keys()]) if (key.startsWith(`${uid}/`)) verdicts.delete(key);
    },
  };
}

function isOfWorker(pod: VectorPod, cached: Recorded['cached'] | undefined, op: Op): boolean {
  if (op.op !== 'setContainerReadiness' && op.op !== 'setContainerStartup') return true;
  return cached ? probedContainer(pod, status(cached.status), op.containerID) !== undefined : false;
}

const isComputed = ({ type }: Condition): boolean => ['Initialized', 'ContainersReady', 'Ready'].includes(type);

const outOfScope: readonly string[] = [
  'PodScheduled',
  'PodResizeInProgress',
  'PodResizePending',
  'PodReadyToStartContainers',
  'AllContainersRestarting',
];

/** kubelet's step gives these a time. */
const isTimed = (condition: Condition): boolean => isComputed(condition) || condition.type === 'DisruptionTarget';

const isOfOthers = (condition: Condition): boolean => !isComputed(condition) && !outOfScope.includes(condition.type);

/** A target is not scheduled, resized or given a sandbox: a report has no such conditions, and a target none. */
export const inScope = (recorded: PodStatus): PodStatus => ({
  ...recorded,
  conditions: recorded.conditions.filter(({ type }) => !outOfScope.includes(type)),
});

const conditionOf = (of: PodStatus | undefined, type: string) => of?.conditions.find((each) => each.type === type);

/** A condition keeps its time while its status is the same. */
function withTime(condition: Condition, before: PodStatus | undefined, nowMs: number): Condition {
  const old = conditionOf(before, condition.type);
  const isSame = old?.status === condition.status;
  return { ...condition, lastTransitionTimeMs: (isSame ? old.lastTransitionTimeMs : undefined) ?? nowMs };
}

/**
 * A report says neither reason nor message nor start, and has every container: one that it does not name is not
 * created.
 */
function asReported(pod: VectorPod, recorded: PodStatus, startTimeMs: number): PodStatus {
  const { reason: _, message: __, ...rest } = recorded;
  const all = (containers: readonly VectorContainer[] = [], statuses: readonly ContainerStatus[]) =>
    containers.map(({ name }) => statuses.find((each) => each.name === name) ?? notCreated(name));
  const byName = (a: ContainerStatus, b: ContainerStatus) => (a.name < b.name ? -1 : 1);
  return {
    ...rest,
    startTimeMs,
    containerStatuses: all(pod.containers, recorded.containerStatuses).toSorted(byName),
    initContainerStatuses: all(pod.initContainers, recorded.initContainerStatuses),
  };
}

const notCreated = (name: string): ContainerStatus => ({
  name,
  containerID: '',
  state: { kind: 'waiting', reason: 'ContainerCreating' },
  ready: false,
  started: false,
  restartCount: 0,
});

const registered = (pod: VectorPod): PodStatus =>
  asReported(pod, { phase: 'Pending', conditions: [], containerStatuses: [], initContainerStatuses: [] }, 0);

/**
 * UpdatePodStatus: only what runs has started, only what has started is ready; an ordinary init container once it has
 * ended well.
 */
function withVerdicts({ initContainers = [] }: VectorPod, complete: PodStatus): PodStatus {
  const judged = (entry: ContainerStatus): ContainerStatus => {
    const isRunning = entry.state?.kind === 'running';
    const started = isRunning && entry.started === true;
    return { ...entry, started, ready: started && entry.ready };
  };
  const judgedInit = (entry: ContainerStatus): ContainerStatus => {
    const { name, state } = entry;
    const isSidecar = initContainers.some((each) => each.name === name && each.restartPolicy === 'Always');
    if (isSidecar) return judged(entry);
    const hasEndedWell = state?.kind === 'terminated' && state.exitCode === 0;
    return { ...entry, started: state?.kind === 'running', ready: hasEndedWell };
  };
  return {
    ...complete,
    containerStatuses: complete.containerStatuses.map(judged),
    initContainerStatuses: complete.initContainerStatuses.map(judgedInit),
  };
}

/** What `Target Status Changed` says of a status. */
function published({ phase, conditions, containerStatuses, initContainerStatuses }: PodStatus) {
  return {
    phase,
    conditions: new Set(
      conditions.map(({ type, status: value, reason, message }) => ({ type, value, reason, message })),
    ),
    containers: [...initContainerStatuses, ...containerStatuses].map((entry) => ({
      name: entry.name,
      containerID: entry.containerID,
      ready: entry.ready,
      isStarted: entry.started === true,
    })),
  };
}
