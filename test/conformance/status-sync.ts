/** Writing statuses back to the API server (pkg/kubelet/status: syncBatch, syncPod), pure: the server is an argument too. */
import { sameValue } from '../../shared/core/equality.ts';
import { samePodStatus } from '../../shared/core/status-equality.ts';
import { normalStatus } from '../../shared/core/status-normal-form.ts';
import type { PodStatus } from '../../shared/core/types.ts';
import type { CachedStatus, StatusManager } from './status-manager-model.ts';
import { isTerminalPhase, mergedStatus, type StatusMerge, statusAtSending } from './status-merge.ts';

/** A pod as the API server holds it. */
export type StoredPod = {
  readonly uid: string;
  readonly generation: number;
  readonly deletionTimestampSet: boolean;
  readonly status: PodStatus;
};

/** The API server's pods by name. */
export type StoredPods = ReadonlyMap<string, StoredPod>;

export type SyncCall = { readonly podUID: string; readonly verb: 'get' | 'patch/status' | 'delete' };

export type SyncOptions = {
  /** Everything that is not as it should be, not only what is newer than the last write. */
  readonly all: boolean;
  readonly couldHaveRunningContainers: (podUID: string) => boolean;
  readonly nowMs: number;
};

export type Sync = {
  readonly manager: StatusManager;
  readonly stored: StoredPods;
  /** Calls of the API server, in order. */
  readonly calls: readonly SyncCall[];
  /** Pods that were tried. */
  readonly synced: number;
};

/** One pass: which statuses to send is decided first, from the state at its start. */
export function syncBatch(manager: StatusManager, stored: StoredPods, options: SyncOptions): Sync {
  const due = [...manager.statuses].flatMap(([uid, cached]) => {
    const why = dueWhy(manager, uid, cached);
    return why === 'newer' || (why !== undefined && options.all) ? [{ uid, cached, why }] : [];
  });
  // A status that differs counts as never sent until it is, also if its pod is gone from the server.
  const unsent = new Set(due.flatMap(({ uid, why }) => (why === 'differs' ? [uid] : [])));
  const sentVersions = [...manager.sentVersions].filter(
    ([uid]) => !unsent.has(uid) && (manager.statuses.has(uid) || !options.all),
  );
  const start = { ...manager, sentVersions: new Map(sentVersions) };
  const first: Sync = { manager: start, stored, calls: [], synced: due.length };
  return due.reduce((sync, { uid, cached }) => syncPod(sync, uid, cached, options), first);
}

/** `differs` is kubelet's reconciliation: the pod does not say what was written to it. */
function dueWhy(
  manager: StatusManager,
  uid: string,
  cached: CachedStatus,
): 'newer' | 'deletable' | 'differs' | undefined {
  if ((manager.sentVersions.get(uid) ?? 0) < cached.version) return 'newer';
  const pod = manager.pods.get(uid);
  if (!pod) return undefined;
  if (canBeDeleted(pod, cached)) return 'deletable';
  return samePodStatus(normalStatus(pod.spec, pod.status), cached.status) ? undefined : 'differs';
}

function syncPod(sync: Sync, uid: string, cached: CachedStatus, options: SyncOptions): Sync {
  const got = called(sync, uid, 'get');
  const pod = sync.stored.get(cached.podName);
  // Whoever removes orphans drops the status; here it is just not written.
  if (!pod) return got;
  if (pod.uid !== uid) return { ...got, manager: withoutStatus(got.manager, uid) };
  const merge: StatusMerge = {
    generation: pod.generation,
    stored: pod.status,
    status: cached.status,
    couldHaveRunningContainers: options.couldHaveRunningContainers(uid),
    nowMs: options.nowMs,
  };
  const status = statusAtSending(merge);
  const merged = mergedStatus({ ...merge, status });
  const written = sameValue(pod.status, merged) ? got : patched(got, cached.podName, { ...pod, status: merged });
  const sent = { ...written, manager: withSent(written.manager, uid, { ...cached, status }) };
  return canBeDeleted({ ...pod, status: merged }, cached) ? deleted(sent, cached.podName, uid) : sent;
}

const called = (sync: Sync, podUID: string, verb: SyncCall['verb']): Sync => ({
  ...sync,
  calls: [...sync.calls, { podUID, verb }],
});

const patched = (sync: Sync, name: string, pod: StoredPod): Sync => ({
  ...called(sync, pod.uid, 'patch/status'),
  stored: new Map(sync.stored).set(name, pod),
});

function deleted(sync: Sync, name: string, uid: string): Sync {
  const stored = new Map(sync.stored);
  stored.delete(name);
  return { ...called(sync, uid, 'delete'), stored, manager: withoutStatus(sync.manager, uid) };
}

const withSent = (manager: StatusManager, uid: string, cached: CachedStatus): StatusManager => ({
  ...manager,
  statuses: new Map(manager.statuses).set(uid, cached),
  sentVersions: new Map(manager.sentVersions).set(uid, cached.version),
});

function withoutStatus(manager: StatusManager, uid: string): StatusManager {
  const statuses = new Map(manager.statuses);
  statuses.delete(uid);
  return { ...manager, statuses };
}

/** Only what is to be deleted, has ended for everybody to see, and was finished here. */
const canBeDeleted = (pod: Pick<StoredPod, 'deletionTimestampSet' | 'status'>, cached: CachedStatus): boolean =>
  pod.deletionTimestampSet && isTerminalPhase(pod.status.phase) && cached.podIsFinished;
