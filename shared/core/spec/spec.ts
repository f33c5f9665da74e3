/**
 * The spec of a target, with the field names of a Kubernetes Pod. A stored spec has passed `validateTargetSpec` and
 * contains its defaults, so a reader never has to guess one.
 */

import { at } from './field-problem.ts';
import type { Handlers } from './handlers.ts';
import type { ContainerKind, ContainerPort, EnvVar, ProbeType, RestartPolicy, RestartPolicyRule } from './types.ts';
import { probeTypes } from './types.ts';

export type Probe = Handlers & {
  readonly initialDelaySeconds: number;
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
  /** Liveness and startup only; carried in the restart request. */
  readonly terminationGracePeriodSeconds?: number;
};

export type ContainerSpec = {
  readonly name: string;
  readonly ports?: readonly ContainerPort[];
  readonly env?: readonly EnvVar[];
  /** On an init container `Always` makes it restartable (a sidecar); on others it overrides the target's policy. */
  readonly restartPolicy?: RestartPolicy;
  readonly restartPolicyRules?: readonly RestartPolicyRule[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
};

export type TargetSpec = {
  /** The counterpart of kubelet's pod IP: the default address of every probe. */
  readonly host: string;
  readonly restartPolicy: RestartPolicy;
  /** Where container states come from: probelet itself (`static`) or a reporter (`reported`). */
  readonly lifecycle: 'static' | 'reported';
  readonly terminationGracePeriodSeconds: number;
  readonly readinessGates: readonly { readonly conditionType: string }[];
  readonly initContainers: readonly ContainerSpec[];
  readonly containers: readonly ContainerSpec[];
};

/** `<container>#<probeType>`: a probe's name within its target, also the end of its sort key. */
export type ProbeName = string;

export const probeName = (container: string, probeType: ProbeType): ProbeName => `${container}#${probeType}`;

/** A container of the spec together with its place in it. */
export type PlacedContainer = { readonly kind: ContainerKind; readonly spec: ContainerSpec };

const initKind = (container: ContainerSpec): ContainerKind =>
  container.restartPolicy === 'Always' ? 'restartableInit' : 'init';

/**
 * Every container of a target in the order in which kubelet adds workers: regular containers first, then init
 * containers.
 */
export function placedContainers(spec: Pick<TargetSpec, 'containers' | 'initContainers'>): readonly PlacedContainer[] {
  return [
    ...spec.containers.map((container) => ({ kind: 'container' as const, spec: container })),
    ...spec.initContainers.map((container) => ({ kind: initKind(container), spec: container })),
  ];
}

export function probeOf(container: ContainerSpec, probeType: ProbeType): Probe | undefined {
  switch (probeType) {
    case 'startup':
      return container.startupProbe;
    case 'readiness':
      return container.readinessProbe;
    case 'liveness':
      return container.livenessProbe;
  }
}

/** A probe of the spec with its place in it. */
export type SpecProbe = {
  readonly name: ProbeName;
  readonly container: PlacedContainer;
  readonly probeType: ProbeType;
  readonly probe: Probe;
};

/** The probes that should have a worker, in kubelet's order. Ordinary init containers never have one. */
export function specProbes(spec: Pick<TargetSpec, 'containers' | 'initContainers'>): readonly SpecProbe[] {
  return placedContainers(spec)
    .filter((container) => container.kind !== 'init')
    .flatMap((container) =>
      probeTypes.flatMap((probeType) => {
        const probe = probeOf(container.spec, probeType);
        return probe ? [{ name: probeName(container.spec.name, probeType), container, probeType, probe }] : [];
      }),
    );
}

/** JSON pointer (RFC 6901) to the probe in a manifest of the target, e.g. `/spec/containers/0/livenessProbe`. */
export function probePointer(spec: TargetSpec, { container, probeType }: SpecProbe): string {
  const field = container.kind === 'container' ? 'containers' : 'initContainers';
  return at(at(`/spec/${field}`, spec[field].indexOf(container.spec)), `${probeType}Probe`);
}
