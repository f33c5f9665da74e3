/**
 * One probe worker: kubelet's `doProbe` (pkg/kubelet/prober/worker.go), split where it calls the prober. `decideGate`
 * is the part before the call, `reduce` the part after it; both are pure. The numbers in the comments are the rules of
 * docs/semantics.md.
 */

import type {
  ContainerKind,
  ContainerState,
  ContainerStatus,
  Era,
  Phase,
  ProbeType,
  RestartPolicy,
  RestartPolicyRule,
  Result,
} from '../spec/types.ts';
import { emptyContainerID, parseContainerID } from './container-id.ts';
import { containerShouldRestart, restartsAllContainers } from './restart-policy.ts';

/** What a worker remembers between probes. */
export type WorkerState = {
  /** Empty: none seen yet, or a malformed one. */
  readonly containerID: string;
  readonly lastResult: Result | undefined;
  readonly resultRun: number;
  /** After a liveness failure or any startup verdict the worker does not probe until a new container appears. */
  readonly onHold: boolean;
};

export const newWorker: WorkerState = { containerID: '', lastResult: undefined, resultRun: 0, onHold: false };

/** What a step does with the results cache, in order. */
export type CacheAction =
  | { readonly kind: 'remove'; readonly containerID: string }
  | {
      readonly kind: 'set';
      readonly containerID: string;
      readonly result: Result;
      /** kubelet's initial value of a new container, which no probe gave. */
      readonly initial?: true;
    };

/** The fixed part of a worker. */
export type WorkerSpec = {
  readonly probeType: ProbeType;
  readonly initialDelaySeconds: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
  readonly containerKind: ContainerKind;
  readonly restartPolicy: RestartPolicy;
  readonly containerRestartPolicy?: RestartPolicy | undefined;
  readonly restartPolicyRules?: readonly RestartPolicyRule[] | undefined;
  /**
   * Lifecycle `static`: no runtime acts on a verdict, so the worker continues to probe, and a new container starts with
   * fresh counters (difference 9).
   */
  readonly probesOn?: boolean;
};

/** What the worker sees of its pod. */
export type PodView = {
  readonly phase: Phase;
  readonly deletionTimestampSet: boolean;
  /** The pod has the condition AllContainersRestarting with status True. */
  readonly allContainersRestarting: boolean;
  /** The status entry of the worker's container. */
  readonly container?: ContainerStatus | undefined;
};

/** Why no probe was made; shown by the API, never acted on. */
export type SkipReason =
  | 'NoStatus'
  | 'PodTerminal'
  | 'NoContainer'
  | 'OnHold'
  | 'NotRunning'
  | 'Terminating'
  | 'InitialDelay'
  | 'Started'
  | 'NotStarted';

export type Gate =
  | { readonly kind: 'probe'; readonly worker: WorkerState; readonly actions: readonly CacheAction[] }
  | {
      readonly kind: 'skip' | 'stop';
      readonly reason: SkipReason;
      readonly worker: WorkerState;
      readonly actions: readonly CacheAction[];
    };

export type Step = { readonly worker: WorkerState; readonly actions: readonly CacheAction[] };

/** kubelet lets a container that started this long before it keep its readiness (rule [G]). */
const kubeletRestartGraceMs = 10_000;

const initialResult: Readonly<Record<ProbeType, Result>> = {
  liveness: 'success',
  readiness: 'failure',
  startup: 'unknown',
};

/**
 * Rules 1 to 8: whether this worker may probe now. `pod` undefined: no status is known. `nowMs` is wall time. For
 * kubelet a container that starts in the future has run for less than any delay, 0 included; a caller whose clocks may
 * disagree passes a `nowMs` that is not before the start.
 */
export function decideGate(
  spec: WorkerSpec,
  worker: WorkerState,
  pod: PodView | undefined,
  nowMs: number,
  era: Era,
): Gate {
  if (!pod) return { kind: 'skip', reason: 'NoStatus', worker, actions: [] };
  if (pod.phase === 'Failed' || pod.phase === 'Succeeded')
    return { kind: 'stop', reason: 'PodTerminal', worker, actions: [] };
  const container = pod.container;
  if (!container || container.containerID === '') return { kind: 'skip', reason: 'NoContainer', worker, actions: [] };

  const seen = seeContainer(spec, worker, container, era);
  const current = seen.worker;
  if (current.onHold) return { kind: 'skip', reason: 'OnHold', ...seen };

  if (container.state?.kind !== 'running') return notRunning(spec, seen, pod, container.state);
  if (pod.deletionTimestampSet && spec.probeType !== 'readiness') {
    const actions = [...seen.actions, setAction(current, 'success')];
    return { kind: 'stop', reason: 'Terminating', worker: current, actions };
  }
  if (runningSeconds(container.state, nowMs) < spec.initialDelaySeconds)
    return { kind: 'skip', reason: 'InitialDelay', ...seen };
  const started = container.started === true;
  // A startup worker probes until the container has started, the others from then on.
  if (started === (spec.probeType === 'startup'))
    return { kind: 'skip', reason: started ? 'Started' : 'NotStarted', ...seen };
  return { kind: 'probe', worker: seen.worker, actions: seen.actions };
}

/**
 * Whether this worker would probe now, with nothing to make durable before. Only then may its target be probed for
 * another reason, too: a container on hold, in its initial delay or not yet adopted is not probed.
 */
export function wouldProbe(
  spec: WorkerSpec,
  worker: WorkerState,
  pod: PodView | undefined,
  nowMs: number,
  era: Era,
): boolean {
  const gate = decideGate(spec, worker, pod, nowMs, era);
  return gate.kind === 'probe' && gate.actions.length === 0;
}

/**
 * Rules 10 to 12: the effect of a result. A prober error is never passed in: it changes nothing.
 * @param result success or failure; a warning is a success, unknown a failure (see `prober`).
 */
export function reduce(spec: WorkerSpec, worker: WorkerState, result: Result): Step {
  const resultRun = result === worker.lastResult ? worker.resultRun + 1 : 1;
  const counted: WorkerState = { ...worker, lastResult: result, resultRun };
  const threshold = result === 'failure' ? spec.failureThreshold : spec.successThreshold;
  if (resultRun < threshold) return { worker: counted, actions: [] };
  const actions = [setAction(worker, result)];
  const isFinal = spec.probeType === 'startup' || (spec.probeType === 'liveness' && result === 'failure');
  const hold = isFinal && !spec.probesOn;
  return { worker: hold ? { ...counted, onHold: true, resultRun: 0 } : counted, actions };
}

/**
 * Rule 3: a new container removes the previous one's result, gets its initial value and ends the hold; kubelet's run
 * length continues.
 */
function seeContainer(spec: WorkerSpec, worker: WorkerState, container: ContainerStatus, era: Era): Step {
  // The raw text is compared: a malformed ID is stored as absent, so it counts as new each time.
  if (container.containerID === keyOf(worker)) return { worker, actions: [] };
  const actions: CacheAction[] = [];
  if (worker.containerID !== '') actions.push({ kind: 'remove', containerID: worker.containerID });
  const parsed = parseContainerID(container.containerID);
  const counted: WorkerState = spec.probesOn ? newWorker : worker;
  const next: WorkerState = { ...counted, containerID: parsed === emptyContainerID ? '' : parsed, onHold: false };
  const startedByOldKubelet =
    !era.changeContainerStatusOnKubeletRestart &&
    spec.probeType === 'startup' &&
    spec.containerKind === 'restartableInit' &&
    container.started === true;
  if (startedByOldKubelet) actions.push(setAction(next, 'success'));
  if (!startedBeforeKubelet(container, era))
    actions.push({ ...setAction(next, initialResult[spec.probeType]), initial: true });
  return { worker: next, actions };
}

/**
 * Rule 5: a container that is not running fails every probe type; the worker ends if the container will never run
 * again.
 */
function notRunning(spec: WorkerSpec, seen: Step, pod: PodView, state: ContainerState | undefined): Gate {
  const actions = [...seen.actions, setAction(seen.worker, 'failure')];
  const ends = state?.kind === 'terminated' && !pod.allContainersRestarting && !willRestart(spec, state.exitCode);
  return { kind: ends ? 'stop' : 'skip', reason: 'NotRunning', worker: seen.worker, actions };
}

/** Whether a container that ended with this code is restarted: its policy and rules first, then the pod's. */
function willRestart(
  spec: Pick<WorkerSpec, 'containerKind' | 'restartPolicy' | 'containerRestartPolicy' | 'restartPolicyRules'>,
  exitCode: number,
): boolean {
  const own = spec.containerKind === 'restartableInit' ? 'Always' : spec.containerRestartPolicy;
  const rules = spec.restartPolicyRules;
  const container = { ...(own && { restartPolicy: own }), ...(rules && { restartPolicyRules: rules }) };
  return containerShouldRestart(container, spec.restartPolicy, exitCode) || restartsAllContainers(container, exitCode);
}

function startedBeforeKubelet(container: ContainerStatus, era: Era): boolean {
  if (era.changeContainerStatusOnKubeletRestart) return false;
  return (
    container.state?.kind === 'running' && container.state.startedAtMs < era.kubeletStartMs - kubeletRestartGraceMs
  );
}

function runningSeconds(state: { readonly startedAtMs: number }, nowMs: number): number {
  return Math.trunc((nowMs - state.startedAtMs) / 1000);
}

function setAction(worker: WorkerState, result: Result) {
  return { kind: 'set', containerID: keyOf(worker), result } as const;
}

const keyOf = (worker: WorkerState): string => worker.containerID || emptyContainerID;
