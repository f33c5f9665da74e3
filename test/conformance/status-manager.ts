/**
 * status-manager.jsonl: pod statuses, their versions and notifications, and what is written back. Each step from one status to the next is
 * the product's, is written to its STATUS item, and is compared as it is read back. Where results of probes can give what a setPodStatus
 * says, status-sync plans it too, and has to come to the same. What calls for the step in kubelet, TerminatePod and
 * the write-back to an API server have no counterpart (difference 25): the model beside it plays them, so that the steps between hold.
 */

import type { PodStatus } from '../../shared/core/types.ts';
import { compare } from './compare.ts';
import type { Finding, VectorRunner } from './runner.ts';
import { spec, status, type VectorPod, type VectorStatus, withoutEmpty } from './status-decode.ts';
import { statusItems } from './status-items.ts';
import {
  emptyStatusManager,
  type Notification,
  observePodStatus,
  type Pod,
  removeOrphanedStatuses,
  type StatusChange,
  type StatusManager,
  setContainerReadiness,
  setContainerStartup,
  setPodStatus,
  terminatePod,
  withPod,
} from './status-manager-model.ts';
import { comparableStatus, plannedStatus, withForeignOf } from './status-plan.ts';
import { type StoredPod, type StoredPods, type SyncCall, syncBatch } from './status-sync.ts';

type Op = {
  readonly op:
    | 'setPodStatus'
    | 'setContainerReadiness'
    | 'setContainerStartup'
    | 'terminatePod'
    | 'removeOrphanedStatuses'
    | 'advance'
    | 'deletePod'
    | 'observePodStatus'
    | 'sync';
  readonly podUID?: string;
  readonly podUIDs?: readonly string[];
  readonly status?: VectorStatus;
  readonly containerID?: string;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly seconds?: number;
  readonly all?: boolean;
  readonly couldHaveRunningContainers?: boolean;
  readonly expect: Expectation;
};

type Expectation = {
  readonly changed?: boolean;
  readonly updateQueued?: boolean;
  readonly notifications?: readonly string[];
  readonly cachedUIDs?: readonly string[];
  readonly cached: {
    readonly version: number;
    readonly podIsFinished?: boolean;
    readonly status: VectorStatus;
  } | null;
  readonly synced?: number;
  readonly actions?: readonly SyncCall[];
  readonly api?: { readonly [uid: string]: VectorStatus | null };
};

/** The manager and its surroundings. `pods` are the agent's copies, those that its pod manager does not know among them. */
type World = {
  readonly manager: StatusManager;
  readonly pods: ReadonlyMap<string, Pod>;
  readonly stored: StoredPods;
  readonly nowMs: number;
};

/** What an op says of itself. */
type Told = {
  readonly world: World;
  readonly notification?: Notification;
  readonly calls?: readonly SyncCall[];
  readonly synced?: number;
};

export const runStatusManager: VectorRunner = async (vector) => {
  const vectorPods = vector.pods as readonly VectorPod[];
  const items = statusItems();
  let byRule: Finding;
  let world = worldOf(vectorPods);
  for (const [index, op] of (vector.ops as readonly Op[]).entries()) {
    const told = apply(world, op);
    const before = world.manager.statuses;
    world = told.world;
    const replanned = op.op === 'setPodStatus' ? replan(world, op, before) : undefined;
    if (typeof replanned === 'string') return `op ${index}: ${replanned}`;
    byRule ??= replanned;
    const stored = told.notification && (await storedAgain(world, items, { before, op }));
    const actual = seen(stored ? { ...told, world: stored } : told, op);
    const different = compare(`op ${index} (${op.op})`, withoutEmpty(actual), withoutEmpty(expected(op)));
    if (different) return different;
  }
  return byRule;
};

/**
 * What status-sync plans for a setPodStatus, compared with what the vector expects; undefined also where no results of probes give it.
 * kubelet's cache keeps the conditions of others that it was given last with a change of its own.
 */
function replan(world: World, op: Op, before: StatusManager['statuses']): Finding {
  const uid = op.podUID ?? '';
  const pod = podIn(world, uid);
  const said = status(op.status ?? {});
  const planned = plannedStatus({ pod, said, old: before.get(uid)?.status ?? pod.status, nowMs: world.nowMs });
  if (!planned || !op.expect.cached) return undefined;
  const recorded = status(op.expect.cached.status);
  const differenceTo = (expectedStatus: PodStatus) =>
    compare('planSync', withoutEmpty(comparableStatus(planned)), withoutEmpty(comparableStatus(expectedStatus)));
  if (!differenceTo(recorded)) return undefined;
  return differenceTo(withForeignOf(recorded, said)) ?? { kind: 'byRule', rules: [25] };
}

type Changed = { readonly before: StatusManager['statuses']; readonly op: Op };

/** The world with the status as its STATUS item has it. */
async function storedAgain(
  world: World,
  items: ReturnType<typeof statusItems>,
  { before, op }: Changed,
): Promise<World> {
  const uid = op.podUID ?? '';
  const cached = world.manager.statuses.get(uid);
  if (!cached) return world;
  await items.write(cached.podName, uid, before.get(uid)?.status ?? podIn(world, uid).status, cached);
  const { version, status: read } = await items.read(cached.podName);
  const statuses = new Map(world.manager.statuses).set(uid, { ...cached, version, status: read });
  return { ...world, manager: { ...world.manager, statuses } };
}

function worldOf(vectorPods: readonly VectorPod[]): World {
  const pods = vectorPods.map(podOf);
  const known = pods.filter((_, index) => vectorPods[index]?.inPodManager);
  const stored = pods.map((pod): readonly [string, StoredPod] => [pod.name, pod]);
  return {
    manager: known.reduce(withPod, emptyStatusManager),
    pods: new Map(pods.map((pod) => [pod.uid, pod])),
    stored: new Map(stored),
    nowMs: 0,
  };
}

const podOf = (from: VectorPod): Pod => ({
  uid: from.uid,
  name: `pod-${from.uid}`,
  generation: from.generation ?? 0,
  spec: spec(from),
  deletionTimestampSet: from.deletionTimestampSet ?? false,
  status: status({}),
});

function apply(world: World, op: Op): Told {
  const { manager, nowMs } = world;
  const uid = op.podUID ?? '';
  const containerID = op.containerID ?? '';
  switch (op.op) {
    case 'advance':
      return { world: { ...world, nowMs: nowMs + (op.seconds ?? 0) * 1000 } };
    case 'setPodStatus':
      return after(world, setPodStatus(manager, podIn(world, uid), status(op.status ?? {}), nowMs));
    case 'setContainerReadiness':
      return after(world, setContainerReadiness(manager, uid, { containerID, value: op.ready ?? false }, nowMs));
    case 'setContainerStartup':
      return after(world, setContainerStartup(manager, uid, { containerID, value: op.started ?? false }, nowMs));
    case 'terminatePod':
      return after(world, terminatePod(manager, podIn(world, uid), nowMs));
    case 'removeOrphanedStatuses':
      return { world: { ...world, manager: removeOrphanedStatuses(manager, new Set(op.podUIDs)) } };
    case 'deletePod':
      return { world: deletePod(world, podIn(world, uid)) };
    case 'observePodStatus':
      return { world: observe(world, podIn(world, uid)) };
    case 'sync':
      return sync(world, op);
  }
}

const after = (world: World, change: StatusChange): Told => ({
  ...change,
  world: { ...world, manager: change.manager },
});

function podIn(world: World, uid: string): Pod {
  const pod = world.pods.get(uid);
  if (!pod) throw new Error(`no pod ${uid}`);
  return pod;
}

function withAgentPod(world: World, pod: Pod): World {
  const manager = world.manager.pods.has(pod.uid) ? withPod(world.manager, pod) : world.manager;
  return { ...world, manager, pods: new Map(world.pods).set(pod.uid, pod) };
}

function deletePod(world: World, pod: Pod): World {
  const { stored, ...rest } = withAgentPod(world, { ...pod, deletionTimestampSet: true });
  const there = stored.get(pod.name);
  return { ...rest, stored: there ? new Map(stored).set(pod.name, { ...there, deletionTimestampSet: true }) : stored };
}

function observe(world: World, pod: Pod): World {
  const there = world.stored.get(pod.name);
  return there ? withAgentPod(world, observePodStatus(pod, there.status)) : world;
}

function sync(world: World, op: Op): Told {
  const { manager, stored, calls, synced } = syncBatch(world.manager, world.stored, {
    all: op.all ?? false,
    couldHaveRunningContainers: () => op.couldHaveRunningContainers ?? false,
    nowMs: world.nowMs,
  });
  return { world: { ...world, manager, stored }, calls, synced };
}

function seen({ world, notification, calls, synced }: Told, op: Op): unknown {
  const cached = op.podUID === undefined ? undefined : world.manager.statuses.get(op.podUID);
  return {
    ...(op.op === 'setPodStatus' && { changed: notification !== undefined }),
    updateQueued: notification !== undefined,
    notifications: notification ? [`${notification.kind}:${notification.uid}`] : [],
    cachedUIDs: [...world.manager.statuses.keys()].sort(),
    cached: cached ? { version: cached.version, podIsFinished: cached.podIsFinished, status: cached.status } : null,
    ...(op.op === 'sync' && { synced, actions: byPod(calls ?? []), api: apiOf(world) }),
  };
}

function expected({ op, expect }: Op): unknown {
  const { cached, api } = expect;
  return {
    ...(op === 'setPodStatus' && { changed: expect.changed ?? false }),
    updateQueued: expect.updateQueued ?? false,
    notifications: expect.notifications ?? [],
    cachedUIDs: expect.cachedUIDs ?? [],
    cached: cached && { podIsFinished: false, ...cached, status: status(cached.status) },
    ...(op === 'sync' && {
      synced: expect.synced ?? 0,
      actions: byPod(expect.actions ?? []),
      api: Object.fromEntries(Object.entries(api ?? {}).map(([uid, held]) => [uid, held && status(held)])),
    }),
  };
}

/** kubelet goes through its pods in no order; only the order of one pod's calls means something. */
const byPod = (calls: readonly SyncCall[]): readonly SyncCall[] =>
  calls.toSorted((a, b) => (a.podUID < b.podUID ? -1 : a.podUID > b.podUID ? 1 : 0));

const apiOf = ({ pods, stored }: World): unknown =>
  Object.fromEntries([...pods.values()].map((pod) => [pod.uid, stored.get(pod.name)?.status ?? null]));
