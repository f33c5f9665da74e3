/** What has really happened to one target since its registration, as the game plays it. */

import {
  type ContainerName,
  containerNames,
  type Finding,
  type Lifecycle,
  type ProbeType,
  probeTypes,
  type Shape,
  sidecar,
  type TargetName,
} from './steps.ts';
import type { ContainerTruth, Shown, TargetTruth } from './target-rules.ts';
import type { Asked, Holder, Incarnation, ProbeTruth, SpecSince } from './truth.ts';

/** What all targets share: who holds the shard, and the time. */
export type Setting = {
  readonly nowMs: () => number;
  readonly holder: () => Holder;
  readonly crashesMs: readonly number[];
};

export type ReportedStatus = {
  readonly name: ContainerName;
  readonly containerID: string;
  readonly restartCount: number;
  readonly state: object;
};

export type Life = ReturnType<typeof newLife>;

/** A deletion with a grace period, and what was shown in that moment. */
export type Termination = { readonly atMs: number; readonly endMs: number; readonly shown: Shown };

/** `generation`: of its spec, as the API says. */
type Registered = {
  readonly name: TargetName;
  readonly uid: string;
  readonly shape: Shape;
  readonly generation: number;
};

export function newLife(
  { nowMs, holder, crashesMs }: Setting,
  { name, uid, shape: first, generation: firstGeneration }: Registered,
) {
  const lifecycle: Lifecycle = name.startsWith('static') ? 'static' : 'reported';
  const asked = new Map<string, Asked[]>();
  const specs = new Map<string, SpecSince[]>();
  const incarnations = new Map<ContainerName, Incarnation[]>();
  const restarts = new Map<ContainerName, number>();
  /** Before the number of restarts in the containerID: where the container joined a target that existed. */
  const joined = new Map<ContainerName, string>();
  /** What the last report says; it stays until the next one, also of a container that is not in the spec. */
  let reported = new Map<ContainerName, ReportedStatus>();
  let shape: Shape | undefined;
  const registeredMs = nowMs();
  let changedMs = registeredMs;
  let wasInitialized = false;
  let isThere = true;
  let termination: Termination | undefined;
  let finalPhase: TargetTruth['finalPhase'];

  const incarnationsOf = (container: ContainerName): readonly Incarnation[] => incarnations.get(container) ?? [];
  const begin = (container: ContainerName, id: string) => {
    incarnations.set(container, [...incarnationsOf(container), { id, fromMs: nowMs() }]);
  };
  const beginStatic = (container: ContainerName, count: number) => {
    restarts.set(container, count);
    begin(container, `probelet://${uid}/${container}/${joined.get(container) ?? ''}${count}`);
  };
  const specSince = (container: ContainerName, type: ProbeType, next: Shape) => {
    const key = `${container}#${type}`;
    const known = specs.get(key) ?? [];
    const spec = next[container]?.[type];
    if (known.length === 0 || JSON.stringify(known.at(-1)?.spec) !== JSON.stringify(spec))
      specs.set(key, [...known, { sinceMs: nowMs(), spec }]);
  };
  const take = (next: Shape, generation: number) => {
    for (const container of containerNames) {
      if (lifecycle === 'static' && next[container] && !shape?.[container]) {
        if (shape) joined.set(container, `${generation}.`);
        beginStatic(container, 0);
      }
      for (const type of probeTypes) specSince(container, type, next);
    }
    shape = next;
    changedMs = nowMs();
  };
  const has = (container: ContainerName): boolean => isThere && shape?.[container] !== undefined;
  const statusesOf = (isOf: (container: ContainerName) => boolean): readonly ReportedStatus[] =>
    [...reported.values()].filter((status) => isOf(status.name));

  const containerTruth = (container: ContainerName): ContainerTruth => {
    const last = incarnationsOf(container).at(-1);
    return {
      name: container,
      specs: shape?.[container] ?? {},
      id: last?.id ?? '',
      isRunning: last !== undefined && last.downMs === undefined,
      restarts: restarts.get(container) ?? 0,
    };
  };

  take(first, firstGeneration);
  return {
    name,
    uid,
    lifecycle,
    isThere: () => isThere,
    /** When (ms) the API last received a change of the target. */
    changedMs: () => changedMs,
    has,
    put: take,
    end() {
      isThere = false;
    },
    terminate(graceSeconds: number, shown: Shown) {
      termination ??= { atMs: nowMs(), endMs: nowMs() + graceSeconds * 1_000, shown };
      changedMs = nowMs();
    },
    termination: () => termination,
    found(container: ContainerName, type: ProbeType, finding: Finding) {
      const key = `${container}#${type}`;
      // Errors of class PROBER are not tried again: two at one instant are two probes, a regular and a triggered one.
      asked.set(key, [...(asked.get(key) ?? []), { atMs: nowMs(), holder: holder().number, finding }]);
    },
    /** Of a static target. */
    restarted(container: ContainerName) {
      beginStatic(container, (restarts.get(container) ?? 0) + 1);
      changedMs = nowMs();
    },
    /** Of a reported target: another container runs, or the present one stops. Returns the report; undefined: none. */
    reported(container: ContainerName, what: 'runs' | 'stops') {
      const last = incarnationsOf(container).at(-1);
      if (finalPhase || (what === 'stops' && (!last || last.downMs !== undefined))) return undefined;
      if (what === 'runs') {
        const count = incarnationsOf(container).length;
        begin(container, `test://${name}-${container}-${count}`);
        restarts.set(container, count);
      } else if (last) {
        incarnations.set(container, [...incarnationsOf(container).slice(0, -1), { ...last, downMs: nowMs() }]);
      }
      const { id, restarts: restartCount } = containerTruth(container);
      const startedAt = new Date(nowMs()).toISOString();
      const state = what === 'runs' ? { running: { startedAt } } : { waiting: { reason: 'CrashLoopBackOff' } };
      const kept = [...reported].filter(([each]) => has(each));
      reported = new Map([...kept, [container, { name: container, containerID: id, restartCount, state }]]);
      for (const each of containerNames) if (!reported.has(each)) forget(each);
      changedMs = nowMs();
      return {
        containerStatuses: statusesOf((each) => each !== sidecar),
        initContainerStatuses: statusesOf((each) => each === sidecar),
      };
    },
    /** Of a reported target that terminates: each of its containers has ended. Returns the report; undefined: none. */
    finalized(phase: 'Succeeded' | 'Failed') {
      if (lifecycle !== 'reported' || !termination || finalPhase) return undefined;
      finalPhase = phase;
      for (const container of containerNames.filter(has)) {
        const last = incarnationsOf(container).at(-1);
        if (!last) continue;
        const ended = { ...last, downMs: last.downMs ?? nowMs() };
        incarnations.set(container, [...incarnationsOf(container).slice(0, -1), ended]);
        const state = {
          terminated: { exitCode: phase === 'Failed' ? 1 : 0, finishedAt: new Date(nowMs()).toISOString() },
        };
        const { id, restarts: restartCount } = containerTruth(container);
        reported.set(container, { name: container, containerID: id, restartCount, state });
      }
      for (const each of containerNames) if (!reported.has(each)) forget(each);
      changedMs = nowMs();
      return {
        phase,
        containerStatuses: statusesOf((each) => each !== sidecar),
        initContainerStatuses: statusesOf((each) => each === sidecar),
      };
    },
    sawInitialized() {
      wasInitialized = true;
    },
    probe(container: ContainerName, probeType: ProbeType): ProbeTruth {
      const stoppedMs = probeType === 'readiness' ? undefined : termination?.atMs;
      const all = asked.get(`${container}#${probeType}`) ?? [];
      const [last] = all.slice(-1);
      return {
        nowMs: nowMs(),
        lifecycle,
        probeType,
        registeredMs,
        specs: specs.get(`${container}#${probeType}`) ?? [],
        incarnations: incarnationsOf(container),
        asked: all.filter(({ atMs }) => atMs <= (stoppedMs ?? atMs)),
        holder: holder(),
        crashesMs,
        terminatedMs: termination?.atMs,
        hasFinished: finalPhase !== undefined,
        ...(stoppedMs !== undefined && {
          stoppedMs,
          askedLateMs: last && last.atMs > stoppedMs ? last.atMs : undefined,
        }),
      };
    },
    truth: (): TargetTruth => ({
      lifecycle,
      containers: containerNames.filter(has).map(containerTruth),
      wasInitialized,
      finalPhase,
    }),
  };

  /** A report that does not name a container forgets it. */
  function forget(container: ContainerName): void {
    if (lifecycle === 'reported') incarnations.delete(container);
    if (lifecycle === 'reported') restarts.delete(container);
  }
}
