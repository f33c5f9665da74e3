/** Kubernetes' objects, as far as the cases of container probes use them. */

export type Handler = {
  readonly httpGet?: object;
  readonly tcpSocket?: object;
  readonly grpc?: object;
  readonly exec?: { readonly command: readonly string[] };
};

export type ProbeSpec = Handler & {
  readonly initialDelaySeconds?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
};

export const probeFields = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

export type ContainerSpec = {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly restartPolicy?: string;
} & { readonly [Field in (typeof probeFields)[number]]?: ProbeSpec };

export type PodSpec = {
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly initContainers?: readonly ContainerSpec[];
  readonly containers: readonly ContainerSpec[];
};

export type Metadata = {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly creationTimestamp: string;
  readonly resourceVersion: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
};

export type ContainerState = {
  readonly waiting?: { readonly reason: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly reason: string;
    readonly startedAt: string;
    readonly finishedAt: string;
  };
};

export type ContainerStatus = {
  readonly name: string;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
  readonly restartCount: number;
  readonly ready: boolean;
  readonly started: boolean;
};

export type PodStatus = {
  readonly phase: string;
  readonly qosClass: string;
  readonly podIP?: string;
  readonly conditions?: readonly object[];
  readonly startTime?: string;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
};

export type Pod = {
  readonly kind: 'Pod';
  readonly apiVersion: 'v1';
  readonly metadata: Metadata;
  readonly spec: PodSpec;
  readonly status: PodStatus;
};

/** Pods and events carry it. */
export type Owner = Pick<Metadata, 'name' | 'namespace' | 'uid'>;

export type KubernetesEvent = {
  readonly type: 'Normal' | 'Warning';
  /** kubelet's: `Unhealthy`, `ProbeWarning` or `Killing`. */
  readonly reason: string;
  readonly message: string;
  /** probelet's own text, where that differs as declared. */
  readonly said?: string;
};

/** All containers of a Pod in the order in which they start. */
export const containersOf = ({ initContainers = [], containers }: PodSpec): readonly ContainerSpec[] => [
  ...initContainers,
  ...containers,
];

export const isSidecar = (spec: PodSpec, { name }: Pick<ContainerSpec, 'name'>): boolean =>
  spec.initContainers?.some((each) => each.name === name) ?? false;
