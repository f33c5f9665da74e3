/**
 * The conditions that are computed from container statuses, with kubelet's reasons and texts
 * (pkg/kubelet/status/generate.go).
 */
import type { ContainerSpec, TargetSpec } from '../spec/spec.ts';
import type { Condition, ConditionStatus, ContainerStatus, Phase } from '../spec/types.ts';
import { isRestartableInit } from './restart-policy.ts';

export type ConditionsInput = {
  readonly spec: Pick<TargetSpec, 'containers' | 'initContainers' | 'readinessGates'>;
  readonly generation: number;
  /** Init and regular containers in one list. null: not known, which differs from an empty list. */
  readonly containerStatuses: readonly ContainerStatus[] | null;
  readonly phase: Phase;
};

/** True when every regular container and every sidecar is ready. */
export function containersReadyCondition(input: ConditionsInput): Condition {
  return generated(input, 'ContainersReady', containersReady(input));
}

/** True when the containers are ready and every readiness gate has a condition with status True among `conditions`. */
export function podReadyCondition(input: ConditionsInput, conditions: readonly Condition[]): Condition {
  const containers = containersReady(input);
  if (containers.status !== 'True') return generated(input, 'Ready', containers);
  const messages = input.spec.readinessGates.flatMap((gate) => gateMessage(gate.conditionType, conditions));
  if (messages.length === 0) return generated(input, 'Ready', { status: 'True' });
  return generated(input, 'Ready', { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') });
}

/** True when every init container is done: a plain one ready, a sidecar started. Once True it stays. */
export function podInitializedCondition(input: ConditionsInput, oldConditions: readonly Condition[]): Condition {
  return generated(input, 'Initialized', initialized(input, oldConditions));
}

const terminalReason = { Succeeded: 'PodCompleted', Failed: 'PodFailed' } as const;

/** What a condition says, without its type. */
type Verdict = { readonly status: ConditionStatus; readonly reason?: string; readonly message?: string };

const generated = (input: ConditionsInput, type: string, verdict: Verdict): Condition => ({
  type,
  ...verdict,
  observedGeneration: input.generation,
});

function containersReady({ spec, containerStatuses, phase }: ConditionsInput): Verdict {
  if (containerStatuses === null) return unknownStatuses;
  const required = [...spec.initContainers.filter(isRestartableInit), ...spec.containers];
  const found = survey(required, containerStatuses, (_, status) => status.ready);
  if (phase === 'Succeeded' && found.unknown.length === 0) return { status: 'False', reason: terminalReason.Succeeded };
  // A failed pod is never ready, whatever its containers report: they may still be terminating.
  if (phase === 'Failed') return { status: 'False', reason: terminalReason.Failed };
  const message = surveyMessage(found, 'unready');
  return message === '' ? { status: 'True' } : { status: 'False', reason: 'ContainersNotReady', message };
}

function initialized({ spec, containerStatuses, phase }: ConditionsInput, old: readonly Condition[]): Verdict {
  if (containerStatuses === null && spec.initContainers.length > 0) return unknownStatuses;
  const statuses = containerStatuses ?? [];
  const found = survey(spec.initContainers, statuses, initContainerDone);
  if (phase === 'Succeeded' && found.unknown.length === 0) return { status: 'True', reason: terminalReason.Succeeded };
  // A regular container that has run proves that the pod was initialized, even while a sidecar restarts.
  if (spec.containers.some((container) => hasStarted(container, statuses))) return { status: 'True' };
  const message = surveyMessage(found, 'incomplete');
  const wasTrue = old.some((condition) => condition.type === 'Initialized' && condition.status === 'True');
  // A restart of all containers returns init containers to waiting; an initialized pod stays initialized.
  if (message === '' || wasTrue) return { status: 'True' };
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

const unknownStatuses: Verdict = { status: 'False', reason: 'UnknownContainerStatuses' };

/** Names of the containers that have no status, and of those whose status does not meet the condition. */
type Survey = { readonly unknown: readonly string[]; readonly unmet: readonly string[] };

function survey(
  containers: readonly ContainerSpec[],
  statuses: readonly ContainerStatus[],
  met: (container: ContainerSpec, status: ContainerStatus) => boolean,
): Survey {
  const unknown: string[] = [];
  const unmet: string[] = [];
  for (const container of containers) {
    const status = statuses.find((candidate) => candidate.name === container.name);
    if (!status) unknown.push(container.name);
    else if (!met(container, status)) unmet.push(container.name);
  }
  return { unknown, unmet };
}

function surveyMessage({ unknown, unmet }: Survey, unmetWord: string): string {
  return [
    ...(unknown.length > 0 ? [`containers with unknown status: [${unknown.join(' ')}]`] : []),
    ...(unmet.length > 0 ? [`containers with ${unmetWord} status: [${unmet.join(' ')}]`] : []),
  ].join(', ');
}

const initContainerDone = (container: ContainerSpec, status: ContainerStatus): boolean =>
  isRestartableInit(container) ? status.started === true : status.ready;

function hasStarted(container: ContainerSpec, statuses: readonly ContainerStatus[]): boolean {
  return statuses.some(
    ({ name, state }) => name === container.name && (state?.kind === 'running' || state?.kind === 'terminated'),
  );
}

function gateMessage(gate: string, conditions: readonly Condition[]): readonly string[] {
  const condition = conditions.find((candidate) => candidate.type === gate);
  if (!condition) return [`corresponding condition of pod readiness gate ${JSON.stringify(gate)} does not exist.`];
  if (condition.status === 'True') return [];
  return [`the status of pod readiness gate ${JSON.stringify(gate)} is not "True", but ${condition.status}`];
}

// Which conditions kubelet owns, compares and times (pkg/kubelet/types/pod_status.go).

const owned: ReadonlySet<string> = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodResizeInProgress',
  'PodResizePending',
  'PodReadyToStartContainers',
  'AllContainersRestarting',
]);

/** Set by kubelet and by others. */
export const disruptionTarget = 'DisruptionTarget';

/** Owned by kubelet: a value that another component has set does not survive a write-back. */
export const isOwned = (conditionType: string): boolean => owned.has(conditionType);

/** Conditions whose change makes the status a different one. Foreign ones, such as readiness gates, do not. */
export const isCompared = (conditionType: string): boolean =>
  isOwned(conditionType) || conditionType === disruptionTarget;

const timed: ReadonlySet<string> = new Set([
  'ContainersReady',
  'Ready',
  'Initialized',
  'PodReadyToStartContainers',
  'PodScheduled',
  disruptionTarget,
  'AllContainersRestarting',
]);

/**
 * Conditions whose `lastTransitionTime` the status manager maintains. The owner of a foreign condition sets its time.
 */
export const isTimed = (conditionType: string): boolean => timed.has(conditionType);
