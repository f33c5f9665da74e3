/** What the status-manager vectors consist of, and what is seen after each of their ops. */
import type { PodStatus } from '../../shared/core/spec/types.ts';
import { type VectorPod, type VectorStatus, withoutEmpty } from './status-decode.ts';

export type Op = {
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
  readonly status?: VectorStatus;
  readonly containerID?: string;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly seconds?: number;
  readonly expect: Recorded;
};

export type Recorded = {
  readonly updateQueued?: boolean;
  readonly cachedUIDs?: readonly string[];
  /** Of the op's pod. */
  readonly cached: { readonly status: VectorStatus } | null;
  /** Of kubelet's API server, after a sync. */
  readonly api?: { readonly [uid: string]: VectorStatus | null };
};

/** By pod; null: it has none. */
export type Statuses = { readonly [uid: string]: PodStatus | null };

export type Seen = {
  readonly statuses: Statuses;
  /** Where they are written to, after a sync. */
  readonly written: Statuses | undefined;
  /** How often subscribers learn that the op's pod has changed. */
  readonly published: number;
  /** Always, unless the op is a verdict of a container whose probes nothing executes. */
  readonly called: boolean;
};

/** The container of this ID, if its pod is probed and it can have probes. */
export function probedContainer(pod: VectorPod, recorded: PodStatus, containerID: string | undefined) {
  if (!pod.inPodManager) return undefined;
  const sidecars = (pod.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const entries = [...recorded.containerStatuses, ...recorded.initContainerStatuses];
  const found = entries.find((entry) => entry.containerID !== '' && entry.containerID === containerID);
  return [...(pod.containers ?? []), ...sidecars].find(({ name }) => name === found?.name)?.name;
}

/** Without the order of conditions, which is each side's. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, field]) => {
    const within = comparable(field);
    return [key, key === 'conditions' && Array.isArray(within) ? within.toSorted(byType) : within];
  });
  return withoutEmpty(Object.fromEntries(entries));
}

const byType = (a: { readonly type: string }, b: { readonly type: string }): number => (a.type < b.type ? -1 : 1);
