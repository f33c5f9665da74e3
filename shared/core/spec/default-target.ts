/**
 * The defaults of a spec, Kubernetes' where it has one (pkg/apis/core/v1/defaults.go). Where there is a default, zeros
 * and empty texts count as absent.
 */
import { withDefaults } from './handler-fields.ts';
import { type Handlers, type HandlersInput, handlerKinds, handlers } from './handlers.ts';
import type { ContainerSpec, Probe, TargetSpec } from './spec.ts';
import type { ContainerInput, ProbeInput, TargetSpecInput } from './spec-input.ts';

/** The stored form of an input that has passed `validateTargetSpec` and is no longer in the short form. */
export function defaultTargetSpec(input: TargetSpecInput): TargetSpec {
  return {
    host: input.host ?? '',
    restartPolicy: input.restartPolicy || 'Always',
    lifecycle: input.lifecycle ?? 'static',
    terminationGracePeriodSeconds: gracePeriod(input.terminationGracePeriodSeconds),
    readinessGates: input.readinessGates ?? [],
    initContainers: (input.initContainers ?? []).map(defaultContainer),
    containers: (input.containers ?? []).map(defaultContainer),
  };
}

/**
 * Kubernetes replaces a negative grace period by the shortest one that is not 0 (pkg/registry/core/pod, strategy.go).
 */
const gracePeriod = (seconds = 30): number => (seconds < 0 ? 1 : seconds);

function defaultContainer(input: ContainerInput): ContainerSpec {
  const { name, restartPolicy, restartPolicyRules } = input;
  const ports = input.ports?.map((port) => ({
    ...given({ name: port.name || undefined }),
    containerPort: port.containerPort,
  }));
  const env = input.env?.map((variable) => ({ name: variable.name, value: variable.value ?? '' }));
  const probes = {
    startupProbe: input.startupProbe && defaultProbe(input.startupProbe),
    readinessProbe: input.readinessProbe && defaultProbe(input.readinessProbe),
    livenessProbe: input.livenessProbe && defaultProbe(input.livenessProbe),
  };
  return { name, ...given({ ports, env, restartPolicy, restartPolicyRules, ...probes }) };
}

function defaultProbe(input: ProbeInput): Probe {
  const { terminationGracePeriodSeconds } = input;
  return {
    ...defaultHandlers(input),
    initialDelaySeconds: input.initialDelaySeconds ?? 0,
    periodSeconds: input.periodSeconds || 10,
    timeoutSeconds: input.timeoutSeconds || 1,
    successThreshold: input.successThreshold || 1,
    failureThreshold: input.failureThreshold || 3,
    ...given({ terminationGracePeriodSeconds }),
  };
}

const defaultHandlers = (input: HandlersInput): Handlers =>
  Object.fromEntries(
    handlerKinds.flatMap((kind) => {
      const handler = input[kind];
      return handler ? [[kind, withDefaults(handlers[kind].shape, handler)]] : [];
    }),
  );

type Given<Fields> = { readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** The fields that have a value. */
function given<Fields extends object>(fields: Fields): Given<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<Fields>;
}
