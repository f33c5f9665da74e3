/**
 * The conditions of a pod of a status-manager vector, by kubelet's rules as conditions.jsonl records them, apart from
 * the product's code.
 */
import type { Condition, ConditionStatus, ContainerStatus, Phase, PodStatus } from '../../shared/core/spec/types.ts';
import type { VectorPod } from './status-decode.ts';

type Verdict = { readonly status: ConditionStatus; readonly reason?: string; readonly message?: string };

/** `status`: with the conditions that others own. */
export function computedConditions(pod: VectorPod, status: PodStatus, wasInitialized: boolean): readonly Condition[] {
  const verdicts: { readonly [type: string]: Verdict } = {
    Initialized: initialized(pod, status, wasInitialized),
    ContainersReady: containersReady(pod, status),
    Ready: ready(pod, status),
  };
  return Object.entries(verdicts).map(([type, verdict]) => ({ type, ...verdict, observedGeneration: 1 }));
}

function ready(pod: VectorPod, status: PodStatus): Verdict {
  const containers = containersReady(pod, status);
  const missing = (pod.readinessGates ?? []).flatMap((gate) => gateMessage(gate, status.conditions));
  if (containers.status !== 'True' || missing.length === 0) return containers;
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: missing.join(', ') };
}

function gateMessage(gate: string, conditions: readonly Condition[]): readonly string[] {
  const found = conditions.find(({ type }) => type === gate);
  if (!found) return [`corresponding condition of pod readiness gate "${gate}" does not exist.`];
  if (found.status === 'True') return [];
  return [`the status of pod readiness gate "${gate}" is not "True", but ${found.status}`];
}

function containersReady({ containers = [], initContainers = [] }: VectorPod, status: PodStatus): Verdict {
  if (isTerminal(status.phase)) return { status: 'False', reason: terminalReason[status.phase] };
  const required = [...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always'), ...containers];
  const unready = required.map(({ name }) => name).filter((name) => !entryOf(status, name)?.ready);
  if (unready.length === 0) return { status: 'True' };
  const message = `containers with unready status: [${unready.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}

function initialized(pod: VectorPod, status: PodStatus, wasInitialized: boolean): Verdict {
  if (status.phase === 'Succeeded') return { status: 'True', reason: terminalReason.Succeeded };
  const { containers = [], initContainers = [] } = pod;
  const hasRun = containers.some(({ name }) => hasBegun(entryOf(status, name)));
  const incomplete = initContainers.filter(({ name, restartPolicy }) => {
    const entry = entryOf(status, name);
    return restartPolicy === 'Always' ? entry?.started !== true : !entry?.ready;
  });
  if (hasRun || wasInitialized || incomplete.length === 0) return { status: 'True' };
  const message = `containers with incomplete status: [${incomplete.map(({ name }) => name).join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

const terminalReason = { Succeeded: 'PodCompleted', Failed: 'PodFailed' } as const;

const isTerminal = (phase: Phase): phase is keyof typeof terminalReason => phase in terminalReason;

const hasBegun = (entry: ContainerStatus | undefined): boolean =>
  entry?.state?.kind === 'running' || entry?.state?.kind === 'terminated';

const entryOf = (
  { containerStatuses, initContainerStatuses }: PodStatus,
  container: string,
): ContainerStatus | undefined =>
  [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container);
