/**
 * What surrounds the product's step from one status to the next in kubelet's status manager (pkg/kubelet/status/status_manager.go), as pure
 * steps over an immutable state: the newest status of each pod, with a version. Writing back is `status-sync.ts`.
 */
import type { TargetSpec } from '../../shared/core/spec.ts';
import { nextStatus } from '../../shared/core/status-update.ts';
import type { PodStatus } from '../../shared/core/types.ts';
import { type ContainerVerdict, withReadiness, withStartup } from './container-verdict.ts';
import { terminatedStatus } from './terminate-pod.ts';

/** A pod as the pod manager knows it; its status is what the API server last said. */
export type Pod = {
  readonly uid: string;
  readonly name: string;
  readonly generation: number;
  readonly spec: TargetSpec;
  readonly deletionTimestampSet: boolean;
  readonly status: PodStatus;
};

export type CachedStatus = {
  readonly podName: string;
  /** Grows by one with each change. */
  readonly version: number;
  /** TerminatePod was called; stays true. */
  readonly podIsFinished: boolean;
  readonly status: PodStatus;
};

/** All maps are by pod uid. */
export type StatusManager = {
  /** The pod manager's pods. */
  readonly pods: ReadonlyMap<string, Pod>;
  readonly statuses: ReadonlyMap<string, CachedStatus>;
  /** The newest version that was written back. */
  readonly sentVersions: ReadonlyMap<string, number>;
};

export const emptyStatusManager: StatusManager = { pods: new Map(), statuses: new Map(), sentVersions: new Map() };

export type Notification = { readonly kind: 'added' | 'updated' | 'removed'; readonly uid: string };

/** `notification` is there exactly when the status changed: then a write-back is wanted. */
export type StatusChange = { readonly manager: StatusManager; readonly notification?: Notification };

export function getPodStatus(manager: StatusManager, uid: string): PodStatus | undefined {
  return manager.statuses.get(uid)?.status;
}

/** The pod need not be known to the pod manager. While it is being deleted every status counts as a change. */
export function setPodStatus(manager: StatusManager, pod: Pod, status: PodStatus, nowMs: number): StatusChange {
  return update(manager, { pod, status, forced: pod.deletionTimestampSet, finished: false }, nowMs);
}

/** Does nothing for an unknown pod, one without a status, an unknown container, or if nothing would change. */
export function setContainerReadiness(
  manager: StatusManager,
  uid: string,
  verdict: ContainerVerdict,
  nowMs: number,
): StatusChange {
  return setContainer(manager, uid, nowMs, (pod, status) => withReadiness(pod, status, verdict));
}

/** The same guards as with readiness. */
export function setContainerStartup(
  manager: StatusManager,
  uid: string,
  verdict: ContainerVerdict,
  nowMs: number,
): StatusChange {
  return setContainer(manager, uid, nowMs, (_, status) => withStartup(status, verdict));
}

/** The pod has ended: see `terminatedStatus`. */
export function terminatePod(manager: StatusManager, pod: Pod, nowMs: number): StatusChange {
  const status = terminatedStatus(pod.spec, pod.status, getPodStatus(manager, pod.uid) ?? pod.status);
  return update(manager, { pod, status, forced: true, finished: true }, nowMs);
}

/** Forgets the statuses of all pods but these. What was written back of them is forgotten by the next full sync. */
export function removeOrphanedStatuses(manager: StatusManager, podUIDs: ReadonlySet<string>): StatusManager {
  return { ...manager, statuses: new Map([...manager.statuses].filter(([uid]) => podUIDs.has(uid))) };
}

/** The pod manager's side: a pod came, or was seen to have changed. */
export function withPod(manager: StatusManager, pod: Pod): StatusManager {
  return { ...manager, pods: new Map(manager.pods).set(pod.uid, pod) };
}

/** The pod manager hears from the API server what is stored there. */
export function observePodStatus(pod: Pod, stored: PodStatus): Pod {
  return { ...pod, status: stored };
}

function setContainer(
  manager: StatusManager,
  uid: string,
  nowMs: number,
  change: (pod: Pod, status: PodStatus) => PodStatus | undefined,
): StatusChange {
  const pod = manager.pods.get(uid);
  const cached = getPodStatus(manager, uid);
  const status = pod && cached && change(pod, cached);
  return status ? update(manager, { pod, status, forced: false, finished: false }, nowMs) : { manager };
}

type Update = {
  readonly pod: Pod;
  readonly status: PodStatus;
  readonly forced: boolean;
  readonly finished: boolean;
};

function update(manager: StatusManager, { pod, status, forced, finished }: Update, nowMs: number): StatusChange {
  const cached = manager.statuses.get(pod.uid);
  const step = nextStatus({
    spec: pod.spec,
    old: cached?.status ?? pod.status,
    next: status,
    // The first status is always news, also when it is what the API server holds.
    forced: forced || !cached,
    nowMs,
  });
  if (step.kind !== 'changed') return { manager };
  const podIsFinished = finished || (cached?.podIsFinished ?? false);
  const entry = { podName: pod.name, version: (cached?.version ?? 0) + 1, podIsFinished, status: step.status };
  const added = !cached && !pod.deletionTimestampSet;
  return {
    manager: { ...manager, statuses: new Map(manager.statuses).set(pod.uid, entry) },
    notification: { kind: podIsFinished ? 'removed' : added ? 'added' : 'updated', uid: pod.uid },
  };
}
