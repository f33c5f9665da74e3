/** A target's spec as clients write it: of the right shape, without defaults, possibly in the short form. */

import type { HandlersInput } from './handlers.ts';
import type { TargetSpec } from './spec.ts';
import type { ContainerPort, EnvVar, RestartPolicy, RestartPolicyRule } from './types.ts';

type Optional<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined };

export type ProbeInput = HandlersInput &
  Optional<{
    initialDelaySeconds: number;
    periodSeconds: number;
    timeoutSeconds: number;
    successThreshold: number;
    failureThreshold: number;
    terminationGracePeriodSeconds: number;
  }>;

export type ProbesInput = Optional<{
  startupProbe: ProbeInput;
  readinessProbe: ProbeInput;
  livenessProbe: ProbeInput;
}>;

/** An empty name counts as absent. */
export type PortInput = { readonly containerPort: number } & Optional<Pick<Required<ContainerPort>, 'name'>>;

/** A variable without a value is empty. */
export type EnvInput = { readonly name: string } & Optional<Pick<EnvVar, 'value'>>;

export type ContainerInput = { readonly name: string } & ProbesInput &
  Optional<{
    ports: readonly PortInput[];
    env: readonly EnvInput[];
    restartPolicy: RestartPolicy;
    restartPolicyRules: readonly RestartPolicyRule[];
  }>;

export type TargetSpecInput = ProbesInput &
  Optional<Omit<TargetSpec, 'containers' | 'initContainers' | 'restartPolicy'>> &
  Optional<{
    containers: readonly ContainerInput[];
    initContainers: readonly ContainerInput[];
    /** Empty counts as absent. A container's policy cannot be empty. */
    restartPolicy: RestartPolicy | '';
  }>;

/** The name of the one container that the short form stands for. */
const shorthandContainer = 'main';

/**
 * Probes at the top of the spec without containers become those of one container, `main`. Other specs are returned
 * unchanged.
 */
export function expandShorthand(input: TargetSpecInput): TargetSpecInput {
  if (!isShorthand(input)) return input;
  const { startupProbe, readinessProbe, livenessProbe, ...rest } = input;
  return { ...rest, containers: [{ name: shorthandContainer, startupProbe, readinessProbe, livenessProbe }] };
}

export const isShorthand = (input: TargetSpecInput): boolean =>
  (input.containers ?? []).length === 0 && topProbes(input).length > 0;

/** The fields of the short form that the spec uses. */
export function topProbes(input: ProbesInput): readonly (keyof ProbesInput)[] {
  const fields = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;
  return fields.filter((field) => input[field] !== undefined);
}
