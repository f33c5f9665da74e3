/**
 * Between Kubernetes and probelet: the target that stands for a Pod, the report of its containers, and the Pod's status
 * from the target's. Pure.
 */

import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { TargetSpec } from '../../../shared/core/spec/spec.ts';
import {
  type ContainerSpec,
  type ContainerState,
  type ContainerStatus,
  containersOf,
  type Metadata,
  type Pod,
  type PodSpec,
  type PodStatus,
  probeFields,
} from './spec.ts';

export type Lifecycle = TargetSpec['lifecycle'];

/** The defaults of Kubernetes' API server that the cases or kubelet read. */
export function podOf(
  created: { readonly metadata: { readonly name: string }; readonly spec: PodSpec },
  metadata: Metadata,
): Pod {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { ...created.metadata, ...metadata },
    spec: { restartPolicy: 'Always', terminationGracePeriodSeconds: 30, ...created.spec },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  };
}

export type Place = {
  readonly podIP: string;
  readonly lifecycle: Lifecycle;
  /** What runs a command in the container of this name; its words go before those of the command. */
  readonly execIn: (container: string) => readonly string[];
};

/** The Pod as it is, but for its address, its lifecycle and where its commands run. */
export function targetOf(pod: Pod, { podIP, lifecycle, execIn }: Place): object {
  const placed = (container: ContainerSpec) => withCommands(container, execIn(container.name));
  const { kind, apiVersion, metadata, spec } = pod;
  const { initContainers, containers } = spec;
  return {
    kind,
    apiVersion,
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace,
      annotations: { 'probelet.dev/lifecycle': lifecycle },
    },
    spec: {
      ...spec,
      ...(initContainers && { initContainers: initContainers.map(placed) }),
      containers: containers.map(placed),
    },
    status: { podIP },
  };
}

function withCommands(container: ContainerSpec, execIn: readonly string[]): ContainerSpec {
  const placed = probeFields.flatMap((field) => {
    const probe = container[field];
    return probe?.exec ? [[field, { ...probe, exec: { command: [...execIn, ...probe.exec.command] } }]] : [];
  });
  return { ...container, ...Object.fromEntries(placed) };
}

/** A container as the runtime knows it. */
export type RuntimeState = {
  readonly name: string;
  readonly containerID?: string;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
  readonly restartCount: number;
};

/** The body of `PUT …/status`: a container's place in the spec says where its status goes. */
export function reportOf(spec: PodSpec, states: readonly RuntimeState[]): object {
  const statusesOf = (containers: readonly ContainerSpec[]) =>
    containers.flatMap(({ name }) => states.filter((state) => state.name === name));
  return {
    status: {
      ...(spec.initContainers && { initContainerStatuses: statusesOf(spec.initContainers) }),
      containerStatuses: statusesOf(spec.containers),
    },
  };
}

/** Of a target that stands for the Pod. Only what Kubernetes requires beside the target's status is added. */
export function podStatusOf(
  { status }: Pick<TargetView, 'status'>,
  { spec }: Pick<Pod, 'spec'>,
  podIP: string,
): PodStatus {
  const images = new Map(containersOf(spec).map(({ name, image = '' }) => [name, image]));
  const complete = (statuses: TargetView['status']['containerStatuses']): readonly ContainerStatus[] =>
    statuses.map((each) => ({ image: images.get(each.name) ?? '', imageID: '', ...each }) as ContainerStatus);
  return {
    phase: status.phase,
    qosClass: 'BestEffort',
    podIP,
    conditions: status.conditions,
    ...(status.startTime !== undefined && { startTime: status.startTime }),
    initContainerStatuses: complete(status.initContainerStatuses),
    containerStatuses: complete(status.containerStatuses),
  };
}
