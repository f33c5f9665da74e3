/**
 * The single function that every change of a pod's status passes through (pkg/kubelet/status: updateStatusInternal).
 */

import type { TargetSpec } from '../spec/spec.ts';
import { isTimed } from './condition-owners.ts';
import { samePodStatus } from './status-equality.ts';
import { normalStatus } from './status-normal-form.ts';
import { type Refusal, refusedTransition } from './status-transition.ts';
import type { Condition, PodStatus } from './types.ts';

export type StatusUpdate = {
  readonly spec: Pick<TargetSpec, 'restartPolicy' | 'containers' | 'initContainers'>;
  /** The status so far, in normal form. */
  readonly old: PodStatus;
  readonly next: PodStatus;
  /** The containers of `next` that were reported: only these can leave a terminated state. Absent: all of them. */
  readonly reported?: ReadonlySet<string>;
  /** A status that equals the old one also counts as a change. */
  readonly forced?: boolean;
  readonly nowMs: number;
};

export type StatusStep =
  | ({ readonly kind: 'refused' } & Refusal)
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly status: PodStatus };

/**
 * Refuses a terminated container that runs again against its policy. Keeps `lastTransitionTime` of a condition whose
 * status is unchanged, and `startTime` for ever. Returns the status in normal form.
 */
export function nextStatus({ spec, old, next, reported, forced = false, nowMs }: StatusUpdate): StatusStep {
  const refusal = refusedTransition(spec, old, reported ? only(reported, next) : next);
  if (refusal) return { kind: 'refused', ...refusal };
  const status = normalStatus(spec, {
    ...next,
    startTimeMs: old.startTimeMs ?? next.startTimeMs ?? nowMs,
    conditions: next.conditions.map((condition) =>
      isTimed(condition.type) ? withTransitionTime(condition, old.conditions, nowMs) : condition,
    ),
  });
  return !forced && samePodStatus(old, status) ? { kind: 'unchanged' } : { kind: 'changed', status };
}

const only = (names: ReadonlySet<string>, { containerStatuses, initContainerStatuses, ...status }: PodStatus) => ({
  ...status,
  containerStatuses: containerStatuses.filter(({ name }) => names.has(name)),
  initContainerStatuses: initContainerStatuses.filter(({ name }) => names.has(name)),
});

/** The time of the old condition of that type if its status is the same, else now. */
export function withTransitionTime(condition: Condition, old: readonly Condition[], nowMs: number): Condition {
  const before = old.find((candidate) => candidate.type === condition.type);
  const { lastTransitionTimeMs: _, ...rest } = condition;
  if (before?.status !== condition.status) return { ...rest, lastTransitionTimeMs: nowMs };
  const { lastTransitionTimeMs } = before;
  return lastTransitionTimeMs === undefined ? rest : { ...rest, lastTransitionTimeMs };
}
