/**
 * What a target has to show of its containers, given what it shows of their probes, restated from docs/semantics.md:
 * UpdatePodStatus, conditions, and differences 9 and 22.
 */
import type { ShownProbe } from './probe-rules.ts';
import { type ContainerName, type Lifecycle, type ProbeType, type Specs, sidecar } from './steps.ts';

export type ShownContainer = {
  readonly name: string;
  readonly containerID?: string;
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
};

export type Shown = {
  readonly probes: readonly ShownProbe[];
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  readonly containerStatuses: readonly ShownContainer[];
  readonly initContainerStatuses: readonly ShownContainer[];
};

export type ContainerTruth = {
  readonly name: ContainerName;
  readonly specs: Specs;
  readonly id: string;
  readonly isRunning: boolean;
  /** With lifecycle `static` the restarts since the container joined the spec, with `reported` the reported ones. */
  readonly restarts: number;
};

export type TargetTruth = {
  readonly lifecycle: Lifecycle;
  readonly containers: readonly ContainerTruth[];
  /** It has been shown as initialized. */
  readonly wasInitialized: boolean;
  /** What the reporter said at the end of the target. */
  readonly finalPhase?: 'Succeeded' | 'Failed' | undefined;
};

type ResultOf = (container: ContainerName, type: ProbeType) => string | undefined;

const resultsIn =
  ({ probes }: Shown): ResultOf =>
  (container, type) =>
    probes.find((probe) => probe.container === container && probe.probeType === type)?.result;

const isStarted = ({ name, specs, isRunning }: ContainerTruth, resultOf: ResultOf): boolean =>
  isRunning && (!specs.startup || resultOf(name, 'startup') === 'success');

/** A static container keeps running when liveness fails, so without a readiness probe that makes it not ready. */
function isReady(lifecycle: Lifecycle, container: ContainerTruth, resultOf: ResultOf): boolean {
  const { name, specs } = container;
  if (!isStarted(container, resultOf)) return false;
  if (specs.readiness) return resultOf(name, 'readiness') === 'success';
  return lifecycle === 'reported' || resultOf(name, 'liveness') !== 'failure';
}

/** What follows from the probes as they are shown, once status-sync has taken them in. */
export function targetFaults(truth: TargetTruth, shown: Shown): readonly string[] {
  const resultOf = resultsIn(shown);
  const expected = {
    ContainersReady: readinessOf(truth, shown),
    Ready: readinessOf(truth, shown),
    Initialized: initializedOf(truth, resultOf),
  };
  const conditions = Object.entries(expected).flatMap(([type, status]) => {
    const condition = shown.conditions.find((each) => each.type === type);
    return condition?.status === status ? [] : [`${type} is ${condition?.status} ${condition?.reason}, not ${status}`];
  });
  const containers = truth.containers.flatMap((container) => containerFaults(truth, container, shown));
  const faults = [...conditions, ...containers];
  if (faults.length === 0) return [];
  return [...faults, shown.probes.map((each) => `${each.container} ${each.probeType} ${each.result}`).join(', ')];
}

/** Unknown while anything is unknown, unless it is False even if all of that were to succeed. */
function readinessOf({ lifecycle, containers, finalPhase }: TargetTruth, shown: Shown): 'True' | 'False' | 'Unknown' {
  if (finalPhase) return 'False';
  const resultOf = resultsIn(shown);
  const hoped: ResultOf = (container, type) => {
    const result = resultOf(container, type);
    return result === 'unknown' ? 'success' : result;
  };
  if (!containers.every((container) => isReady(lifecycle, container, hoped))) return 'False';
  const isNeverAsked = lifecycle === 'static' && shown.probes.length === 0;
  return isNeverAsked || shown.probes.some(({ result }) => result === 'unknown') ? 'Unknown' : 'True';
}

/** True once sidecars have started or an ordinary container of a reported target has run; then it stays True. */
function initializedOf(
  { lifecycle, containers, wasInitialized, finalPhase }: TargetTruth,
  resultOf: ResultOf,
): 'True' | 'False' {
  if (finalPhase === 'Succeeded') return 'True';
  const isProved = lifecycle === 'reported' && containers.some(({ name, id }) => name !== sidecar && id !== '');
  const isDone = containers.every((container) => container.name !== sidecar || isStarted(container, resultOf));
  return wasInitialized || isProved || isDone ? 'True' : 'False';
}

function containerFaults({ lifecycle }: TargetTruth, truth: ContainerTruth, shown: Shown): readonly string[] {
  const statuses = truth.name === sidecar ? shown.initContainerStatuses : shown.containerStatuses;
  const status = statuses.find(({ name }) => name === truth.name);
  if (!status) return [`${truth.name} has no status`];
  const resultOf = resultsIn(shown);
  const expected = {
    id: truth.id,
    ready: isKept(truth, shown) ? status.ready && isStarted(truth, resultOf) : isReady(lifecycle, truth, resultOf),
    started: isStarted(truth, resultOf),
    restarts: truth.restarts,
  };
  const found = {
    id: status.containerID ?? '',
    ready: status.ready,
    started: status.started === true,
    restarts: status.restartCount,
  };
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  return one === other ? [] : [`${truth.name} is ${one}, not ${other}`];
}

/** While the probe that decides cannot be made `ready` is what it was: kubelet throws a prober error away. */
function isKept({ name, specs }: ContainerTruth, { probes }: Shown): boolean {
  const deciding: ProbeType = specs.readiness ? 'readiness' : 'liveness';
  const reason = probes.find(({ container, probeType }) => container === name && probeType === deciding)?.reason;
  return reason === 'PolicyDenied' || reason === 'ProberError';
}
