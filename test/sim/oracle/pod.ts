/**
 * What the status of a target should be, restated from docs/semantics.md: UpdatePodStatus, the phase and the
 * conditions. It imports nothing of the product, and knows ordinary containers and sidecars.
 */

export type ProbeType = 'startup' | 'readiness' | 'liveness';

/** One container of the spec, and what is known of it. */
export type SeenContainer = {
  readonly name: string;
  readonly isSidecar: boolean;
  readonly containerID: string;
  readonly state: State;
  /** How it ended last, if it has ended; undefined: it has not. */
  readonly lastExitCode?: number;
  readonly restarts: boolean;
  /** No runtime reports on it: without a readiness probe its liveness probe decides whether it is ready. */
  readonly isStatic: boolean;
  /** The probes that the spec has for it. */
  readonly probes: ReadonlyMap<ProbeType, SeenProbe>;
};

export type State = 'unknown' | 'waiting' | 'running' | 'terminated';

/** `result`: of the container `containerID`; undefined: none. `unknown`: why the probe cannot be made. */
export type SeenProbe = {
  readonly result?: string;
  readonly containerID: string;
  readonly unknown?: string;
};

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** `before`: what the status said until now, as far as it stays. */
export type SeenPod = {
  readonly containers: readonly SeenContainer[];
  readonly before: { readonly phase: string; readonly wasInitialized: boolean };
};

export type ExpectedContainer = {
  readonly name: string;
  readonly containerID: string;
  readonly started: boolean;
  readonly ready: boolean;
};

export type ExpectedCondition = { readonly status: 'True' | 'False' | 'Unknown'; readonly reason?: string };

export type ExpectedPod = {
  readonly phase: Phase;
  readonly containers: readonly ExpectedContainer[];
  readonly conditions: { readonly [type in 'Initialized' | 'ContainersReady' | 'Ready']: ExpectedCondition };
};

export function expectedPod(pod: SeenPod): ExpectedPod {
  const containers = pod.containers.map(expectedContainer);
  const phase = expectedPhase(pod, containers);
  const ready = readyCondition(phase, pod.containers, containers);
  return {
    phase,
    containers,
    conditions: { Initialized: initialized(pod, phase, containers), ContainersReady: ready, Ready: ready },
  };
}

const isUnknown = ({ containerID }: SeenContainer, probe: SeenProbe): boolean =>
  probe.unknown !== undefined || probe.result === undefined || probe.containerID !== containerID;

const unknownReasons = (container: SeenContainer): readonly string[] =>
  [...container.probes.values()]
    .filter((probe) => isUnknown(container, probe))
    .map(({ unknown }) => unknown ?? 'NotYetProbed');

/** The container if all that is unknown of it had succeeded. */
const hopeful = (container: SeenContainer): SeenContainer => ({
  ...container,
  probes: new Map(
    [...container.probes].map(([type, probe]) => [
      type,
      isUnknown(container, probe) ? { ...probe, containerID: container.containerID, result: 'success' } : probe,
    ]),
  ),
});

/** UpdatePodStatus: `started` by the startup probe of this containerID, `ready` by the readiness probe once started. */
function expectedContainer({ name, containerID, state, probes, isStatic }: SeenContainer): ExpectedContainer {
  const resultOf = (type: ProbeType) => {
    const probe = probes.get(type);
    return probe?.containerID === containerID ? probe.result : undefined;
  };
  const started = state === 'running' && (!probes.has('startup') || resultOf('startup') === 'success');
  const isFailing = isStatic && !probes.has('readiness') && resultOf('liveness') === 'failure';
  const ready = started && (resultOf('readiness') === 'success' || !probes.has('readiness')) && !isFailing;
  return { name, containerID, started, ready };
}

const hasEnded = ({ state, lastExitCode }: SeenContainer): boolean =>
  state === 'terminated' || (state === 'waiting' && lastExitCode !== undefined);

/** kubelet's getPhase; a terminal phase is not left. */
function expectedPhase({ containers, before }: SeenPod, expected: readonly ExpectedContainer[]): Phase {
  if (before.phase === 'Failed' || before.phase === 'Succeeded') return before.phase;
  const ordinary = containers.filter(({ isSidecar }) => !isSidecar);
  const sidecars = containers.filter(({ isSidecar }) => isSidecar);
  const isStarted = ({ name }: SeenContainer) => expected.some((one) => one.name === name && one.started);
  const awaitsSidecar = sidecars.some((one) => (one.state === 'running' ? !isStarted(one) : !hasEnded(one)));
  const hasRun = ordinary.some((one) => one.state === 'running' || hasEnded(one));
  if (awaitsSidecar && !hasRun) return 'Pending';
  const isAwaited = (one: SeenContainer) => one.state !== 'running' && !hasEnded(one);
  if (ordinary.some(isAwaited) || sidecars.some(isAwaited)) return 'Pending';
  if (containers.some(({ state }) => state === 'running')) return 'Running';
  if (ordinary.some(({ restarts }) => restarts)) return 'Running';
  return ordinary.every(({ state, lastExitCode }) => state === 'terminated' && lastExitCode === 0)
    ? 'Succeeded'
    : 'Failed';
}

/** Difference 22: not known unless a container is not ready even if all that is unknown were well. */
function readyCondition(
  phase: Phase,
  seen: readonly SeenContainer[],
  containers: readonly ExpectedContainer[],
): ExpectedCondition {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const reasons = seen.flatMap(unknownReasons);
  const reason = reasons.find((each) => each !== 'NotYetProbed') ?? reasons[0];
  const isAsked = seen.some(({ isStatic, probes }) => !isStatic || probes.size > 0);
  const atBest = reason === undefined ? containers : seen.map(hopeful).map(expectedContainer);
  if (atBest.every(({ ready }) => ready)) {
    if (!isAsked) return { status: 'Unknown', reason: 'NoProbes' };
    if (reason !== undefined) return { status: 'Unknown', reason };
  }
  return atBest.every(({ ready }) => ready) ? { status: 'True' } : { status: 'False', reason: 'ContainersNotReady' };
}

/** True once every sidecar has started or an ordinary container has run, and from then on. */
function initialized(
  { containers, before }: SeenPod,
  phase: Phase,
  expected: readonly ExpectedContainer[],
): ExpectedCondition {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' };
  const isDone = containers
    .filter(({ isSidecar }) => isSidecar)
    .every(({ name }) => expected.some((one) => one.name === name && one.started));
  const hasRun = containers.some(
    // A static container counts as running from its registration, which proves no order of starts.
    ({ isSidecar, isStatic, state }) => !isSidecar && !isStatic && (state === 'running' || state === 'terminated'),
  );
  return isDone || hasRun || before.wasInitialized
    ? { status: 'True' }
    : { status: 'False', reason: 'ContainersNotInitialized' };
}
