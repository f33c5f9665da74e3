/** The terms of the probe engine. They are kubelet's; no file of this folder imports anything outside it. */

/** What the results cache holds for one container and probe type. */
export type Result = 'success' | 'failure' | 'unknown';

/** The outcome of one attempt of a prober without an error. A warning counts as success, unknown as failure. */
export type ProbeOutcome = 'success' | 'warning' | 'failure' | 'unknown';

export type ProbeType = 'liveness' | 'readiness' | 'startup';

/** The order in which kubelet's AddPod visits the probes of a container. */
export const probeTypes: readonly ProbeType[] = ['startup', 'readiness', 'liveness'];

/** `restartableInit` is an init container with `restartPolicy: Always`, a sidecar. */
export type ContainerKind = 'container' | 'restartableInit' | 'init';

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** A container-level rule: what to do when the container ends with one of these exit codes. */
export type RestartPolicyRule = {
  readonly action: 'Restart' | 'RestartAllContainers';
  readonly operator: 'In' | 'NotIn';
  readonly values: readonly number[];
};

/** The state of a container. All instants are milliseconds since the epoch. */
export type ContainerState =
  | { readonly kind: 'running'; readonly startedAtMs: number }
  | { readonly kind: 'waiting'; readonly reason?: string; readonly message?: string }
  | {
      readonly kind: 'terminated';
      readonly exitCode: number;
      readonly reason?: string;
      readonly message?: string;
      readonly startedAtMs?: number;
      readonly finishedAtMs?: number;
    };

/** One entry of a pod's `containerStatuses` or `initContainerStatuses`. */
export type ContainerStatus = {
  readonly name: string;
  /** `scheme://id`; empty while the container has none. */
  readonly containerID: string;
  /** Absent: no state is known. */
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
  readonly ready: boolean;
  /** null: not reported yet, which differs from false. */
  readonly started: boolean | null;
  readonly restartCount: number;
};

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export type Condition = {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTimeMs?: number;
  readonly observedGeneration?: number;
};

/** A pod's status, with kubelet's fields. */
export type PodStatus = {
  readonly phase: Phase;
  readonly reason?: string;
  readonly message?: string;
  readonly startTimeMs?: number;
  readonly conditions: readonly Condition[];
  readonly initContainerStatuses: readonly ContainerStatus[];
  readonly containerStatuses: readonly ContainerStatus[];
};

/** kubelet's feature switch and its start, which some rules compare with a container's start. */
export type Era = {
  /** true: every newly seen container gets its initial value (the product). false: rules [G] of the vectors. */
  readonly changeContainerStatusOnKubeletRestart: boolean;
  /** When the prober started, ms since the epoch. */
  readonly kubeletStartMs: number;
};

/** Why a probe did not succeed; `PROBER` and `POLICY_DENIED` are never the target's fault. */
export const failureClasses = [
  'DNS',
  'CONNECT_REFUSED',
  'CONNECT_RESET',
  'CONNECT_UNREACHABLE',
  'CONNECT_TIMEOUT',
  'TIMEOUT',
  'TLS',
  'HTTP_STATUS',
  'HTTP_PROTOCOL',
  'HTTP_REDIRECT',
  'BODY',
  'GRPC_NOT_SERVING',
  'GRPC_STATUS',
  'EXEC_EXIT',
  'EXEC_TIMEOUT',
  'EXEC_START',
  'HANDLER',
  'POLICY_DENIED',
  'PROBER',
] as const;

export type FailureClass = (typeof failureClasses)[number];

/** The phases of an attempt that it may lack. */
export const partPhases = ['dnsMs', 'connectMs', 'tlsMs', 'firstByteMs'] as const;

/** How long each phase of an attempt took, in ms; a phase that did not happen is absent. */
export type PhaseTimings = { readonly [Phase in (typeof partPhases)[number]]?: number } & { readonly totalMs: number };

/** One attempt of a prober. `error` set: a prober error, whose outcome is discarded after the retries. */
export type Attempt = {
  readonly outcome: ProbeOutcome;
  readonly output: string;
  readonly error?: string;
  readonly failureClass?: FailureClass;
  readonly timings: PhaseTimings;
};

export type PortRef = number | string;

export type HttpHeader = { readonly name: string; readonly value: string };

export type ContainerPort = { readonly name?: string; readonly containerPort: number };

export type EnvVar = { readonly name: string; readonly value: string };
