/**
 * `Target Status Changed`: published when conditions, phase, ready or started differ, with the status before and after.
 */
import { sameValue } from '../kubelet/equality.ts';
import type { PodStatus } from '../kubelet/types.ts';
import type { OutboxEvent, ShownStatus, TargetRecord } from '../spec/records.ts';

type Change = {
  readonly target: TargetRecord;
  /** Version of the status that is about to be written. */
  readonly version: number;
  readonly before: PodStatus;
  readonly after: PodStatus;
  readonly nowMs: number;
};

/** One event, or none if nothing visible has changed. */
export function statusChangedEvent({ target, version, before, after, nowMs }: Change): readonly OutboxEvent[] {
  const [oldStatus, newStatus] = [shownStatus(before), shownStatus(after)];
  if (sameValue(oldStatus, newStatus)) return [];
  const detail = { resourceVersion: String(version), oldStatus, newStatus };
  return [{ id: `${target.uid}/status/${version}`, detailType: 'Target Status Changed', timeMs: nowMs, detail }];
}

/** What subscribers see of a status. */
export function shownStatus(status: PodStatus): ShownStatus {
  return {
    phase: status.phase,
    conditions: status.conditions.map(({ type, status: value, reason, message }) => ({
      type,
      status: value,
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
    })),
    containers: [...status.initContainerStatuses, ...status.containerStatuses].map((container) => ({
      name: container.name,
      containerID: container.containerID,
      ready: container.ready,
      started: container.started === true,
      restartCount: container.restartCount,
    })),
  };
}
