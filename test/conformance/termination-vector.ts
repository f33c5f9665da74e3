/** What the termination vectors consist of, and what is seen after each of their ops. */

import type { ContainerSpec, TargetSpec } from '../../shared/core/spec/spec.ts';
import type { ConditionStatus, ProbeType, RestartPolicy } from '../../shared/core/spec/types.ts';
import { specOf } from '../support/pods.ts';

/** Probes have a period of a second. An absent threshold is 1. */
export type VectorProbe = {
  readonly initialDelaySeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
};

export type ProbedContainer = {
  readonly name: string;
  readonly restartPolicy?: 'Always';
  readonly probes: { readonly [type in ProbeType]?: VectorProbe };
};

export type TerminationPod = {
  readonly restartPolicy: RestartPolicy;
  readonly terminationGracePeriodSeconds: number;
  /** Sidecars. */
  readonly initContainers: readonly ProbedContainer[];
  readonly containers: readonly ProbedContainer[];
};

/** `seconds`: how long to wait before looking. */
export type Action = { readonly seconds: number } & (
  | { readonly op: 'run'; readonly container: string }
  /** All probes of a container that has ended fail. */
  | { readonly op: 'end'; readonly container: string; readonly exitCode: number }
  | {
      readonly op: 'answer';
      readonly container: string;
      readonly probeType: ProbeType;
      readonly result: 'success' | 'failure';
    }
  | { readonly op: 'delete'; readonly gracePeriodSeconds: number }
  | { readonly op: 'wait' }
);

export type ShownCondition = {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason?: string;
  readonly message?: string;
};

export type ShownContainer = { readonly name: string; readonly ready: boolean; readonly started: boolean };

/** Results by probe, as `container/type`. */
export type Results = { readonly [probe: string]: string };

export type Recorded = {
  /** The probes that were made during the op. */
  readonly probed: readonly string[];
  /** kubelet's caches. */
  readonly results: Results;
  /** What a probe has found last in the current container, also of a worker that has ended. */
  readonly verdicts: Results;
  readonly conditions: readonly ShownCondition[];
  readonly containers: readonly ShownContainer[];
  /** The grace periods with which kubelet has said the runtime to end the pod. */
  readonly grace: readonly number[];
  /** All containers have ended, and the pod with them. */
  readonly ended: boolean;
};

export type Op = Action & { readonly expect: Recorded };

export type TerminationVector = TerminationPod & { readonly ops: readonly Op[] };

export type Seen = Omit<Recorded, 'verdicts' | 'grace'> & {
  /** Absent: the pod does not terminate, or is gone. */
  readonly grace: number | undefined;
};

/** How long the probes that begin after the end of a container are not looked at. */
export const endSeconds = 3;

export const pathOf = (container: string, probeType: ProbeType): string => `${container}/${probeType}`;

export const containersOf = ({ initContainers, containers }: TerminationPod): readonly ProbedContainer[] => [
  ...initContainers,
  ...containers,
];

/** Every probe with a port of its own, by that port. */
export function probePorts(pod: TerminationPod): ReadonlyMap<number, string> {
  const paths = containersOf(pod).flatMap(({ name, probes }) =>
    Object.keys(probes).map((probeType) => pathOf(name, probeType as ProbeType)),
  );
  return new Map(paths.map((path, index) => [index + 1, path]));
}

export function containerSpecs(
  given: readonly ProbedContainer[],
  ports: ReadonlyMap<number, string>,
): readonly ContainerSpec[] {
  const portOf = (path: string) => [...ports].find(([, of]) => of === path)?.[0] ?? 0;
  return given.map(({ name, restartPolicy, probes }) => {
    const entries = Object.entries(probes).map(([probeType, probe]) => [
      `${probeType}Probe`,
      {
        tcpSocket: { port: portOf(pathOf(name, probeType as ProbeType)) },
        initialDelaySeconds: 0,
        timeoutSeconds: 1,
        periodSeconds: 1,
        successThreshold: 1,
        failureThreshold: 1,
        ...probe,
      },
    ]);
    return { name, ...(restartPolicy && { restartPolicy }), ...Object.fromEntries(entries) };
  });
}

export function targetSpec(pod: TerminationPod): TargetSpec {
  const ports = probePorts(pod);
  return specOf({
    restartPolicy: pod.restartPolicy,
    terminationGracePeriodSeconds: pod.terminationGracePeriodSeconds,
    initContainers: containerSpecs(pod.initContainers, ports),
    containers: containerSpecs(pod.containers, ports),
  });
}

export const byType = (conditions: readonly ShownCondition[]): readonly ShownCondition[] =>
  conditions.toSorted((a, b) => (a.type < b.type ? -1 : 1));
