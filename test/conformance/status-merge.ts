/** What is written back of a status, seen what the API server holds (pkg/kubelet/status: mergePodStatus). */
import { disruptionTarget, isOwned } from '../../shared/core/condition-owners.ts';
import { withTransitionTime } from '../../shared/core/status-update.ts';
import type { Condition, Phase, PodStatus } from '../../shared/core/types.ts';
import { withCondition } from './container-verdict.ts';

export type StatusMerge = {
  readonly generation: number;
  /** What the API server holds. */
  readonly stored: PodStatus;
  /** The cached status. */
  readonly status: PodStatus;
  /** Containers of the pod could still run. */
  readonly couldHaveRunningContainers: boolean;
  readonly nowMs: number;
};

export type TerminalPhase = Extract<Phase, 'Succeeded' | 'Failed'>;

export const isTerminalPhase = (phase: Phase): phase is TerminalPhase => phase === 'Succeeded' || phase === 'Failed';

/**
 * Conditions of others are kept as stored. A terminal phase is held back while containers could run: whoever reads it may take what they
 * hold. With a terminal phase no pod is ready.
 */
export function mergedStatus(merge: StatusMerge): PodStatus {
  const { generation, nowMs, stored, status } = merge;
  const held = becomesTerminal(merge) && merge.couldHaveRunningContainers;
  const { reason: _reason, message: _message, phase: _phase, ...rest } = status;
  const merged = { ...rest, ...phaseFields(held ? stored : status), conditions: mergedConditions(merge) };
  if (!isTerminalPhase(merged.phase) || !merged.conditions.some(isReadyTrue)) return merged;
  const unready = (conditions: readonly Condition[], type: 'Ready' | 'ContainersReady', phase: TerminalPhase) =>
    withCondition(conditions, withTransitionTime(terminalPhaseCondition(type, phase, generation), conditions, nowMs));
  const containers = unready(merged.conditions, 'ContainersReady', merged.phase);
  return { ...merged, conditions: unready(containers, 'Ready', merged.phase) };
}

/**
 * The cached status as it is when it is sent: DisruptionTarget waits for the last container, so its time is the sending's, not the
 * stale one of the update.
 */
export function statusAtSending(merge: StatusMerge): PodStatus {
  if (!sendsDisruption(merge)) return merge.status;
  const conditions = merge.status.conditions.map((condition) =>
    condition.type === disruptionTarget
      ? withTransitionTime(condition, merge.stored.conditions, merge.nowMs)
      : condition,
  );
  return { ...merge.status, conditions };
}

function mergedConditions(merge: StatusMerge): readonly Condition[] {
  const { status, stored } = merge;
  let conditions: readonly Condition[] = stored.conditions.filter(({ type }) => !isOwned(type));
  for (const condition of status.conditions) {
    if (isOwned(condition.type)) conditions = conditions.concat(condition);
    else if (condition.type === disruptionTarget && sendsDisruption(merge))
      conditions = withCondition(conditions, condition);
  }
  return conditions;
}

const becomesTerminal = ({ stored, status }: StatusMerge): boolean =>
  !isTerminalPhase(stored.phase) && isTerminalPhase(status.phase);

const sendsDisruption = (merge: StatusMerge): boolean => becomesTerminal(merge) && !merge.couldHaveRunningContainers;

const phaseFields = ({ phase, reason, message }: PodStatus): Pick<PodStatus, 'phase' | 'reason' | 'message'> => ({
  phase,
  ...(reason !== undefined && { reason }),
  ...(message !== undefined && { message }),
});

const isReadyTrue = ({ type, status }: Condition): boolean =>
  (type === 'Ready' || type === 'ContainersReady') && status === 'True';

/** Ready or ContainersReady of a pod in its terminal phase. */
function terminalPhaseCondition(
  type: 'Ready' | 'ContainersReady',
  phase: 'Succeeded' | 'Failed',
  generation: number,
): Condition {
  return { type, status: 'False', reason: terminalReason[phase], observedGeneration: generation };
}

const terminalReason = { Succeeded: 'PodCompleted', Failed: 'PodFailed' } as const;
