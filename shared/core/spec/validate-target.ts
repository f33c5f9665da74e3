/** Decides whether a spec can be stored, and in what form. A refused spec is not stored in part. */

import { defaultTargetSpec } from './default-target.ts';
import { at, atMost, type FieldProblem, inRange, unique, unless } from './field-problem.ts';
import { hostDetail } from './host-detail.ts';
import {
  containersMax,
  envMax,
  exitCodesMax,
  gracePeriodSecondsMax,
  int32,
  portMax,
  portMin,
  portsMax,
  probeItemsMax,
  readinessGatesMax,
  restartPolicyRulesMax,
} from './limits.ts';
import { isDnsLabel, isEnvName, isHost, isPortName, isQualifiedName } from './names.ts';
import { type ProbeName, specProbes, type TargetSpec } from './spec.ts';
import {
  type ContainerInput,
  type EnvInput,
  expandShorthand,
  isShorthand,
  type PortInput,
  type TargetSpecInput,
  topProbes,
} from './spec-input.ts';
import type { ProbeType, RestartPolicyRule } from './types.ts';
import { probeProblems } from './validate-probe.ts';

type Problems = readonly FieldProblem[];

export type ValidatedSpec =
  | { readonly kind: 'valid'; readonly spec: TargetSpec }
  | { readonly kind: 'invalid'; readonly problems: Problems };

/**
 * All problems at once, each at the field as the client wrote it, also in the short form; or the spec with its
 * defaults.
 */
export function validateTargetSpec(input: TargetSpecInput): ValidatedSpec {
  const expanded = expandShorthand(input);
  const problems = specProblems(expanded);
  if (problems.length === 0) return { kind: 'valid', spec: defaultTargetSpec(expanded) };
  return { kind: 'invalid', problems: isShorthand(input) ? problems.map(asShorthand) : problems };
}

/**
 * The PROBE items of a target must fit into one purge: those of its new spec and those that exist, because the item of
 * a removed probe stays until the target is purged.
 */
export function probeItemsProblems(existing: readonly ProbeName[], spec: TargetSpec): Problems {
  const names = new Set([...existing, ...specProbes(spec).map(({ name }) => name)]);
  const detail = `must leave the target at most ${probeItemsMax} probes, counting those removed since it was registered`;
  return unless(names.size <= probeItemsMax, '/spec/containers', detail);
}

const asShorthand = ({ pointer, detail }: FieldProblem): FieldProblem => ({
  pointer: pointer.replace(/^\/spec\/containers\/0\//, '/spec/'),
  detail,
});

function specProblems(spec: TargetSpecInput): Problems {
  return [
    ...hostProblems(spec),
    ...gracePeriodProblems(spec.terminationGracePeriodSeconds),
    ...gatesProblems(spec.readinessGates ?? []),
    ...topProbes(spec).map((field) => ({ pointer: at('/spec', field), detail: 'must not be set beside containers' })),
    ...containersProblems(spec),
  ];
}

/** Kubernetes replaces a negative value by 1. */
function gracePeriodProblems(seconds: number | undefined): Problems {
  const valid = seconds === undefined || seconds <= gracePeriodSecondsMax;
  return unless(valid, '/spec/terminationGracePeriodSeconds', `must be at most ${gracePeriodSecondsMax}`);
}

/** A target needs an address, even when all its probes name hosts. */
function hostProblems(spec: TargetSpecInput): Problems {
  if (!spec.host) return [{ pointer: '/spec/host', detail: 'must be set: a target has an address' }];
  return isHost(spec.host) ? [] : [{ pointer: '/spec/host', detail: hostDetail(spec.host) }];
}

function gatesProblems(gates: NonNullable<TargetSpecInput['readinessGates']>): Problems {
  const pointer = '/spec/readinessGates';
  const typeAt = (index: number) => at(at(pointer, index), 'conditionType');
  return [
    ...atMost(gates.length, readinessGatesMax, pointer),
    ...gates.flatMap(({ conditionType }, index) =>
      unless(isQualifiedName(conditionType), typeAt(index), 'must be a qualified name, like example.com/warm'),
    ),
  ];
}

type PlacedInput = { readonly container: ContainerInput; readonly pointer: string; readonly init: boolean };

function containersProblems(spec: TargetSpecInput): Problems {
  const ordinary = placed(spec.containers ?? [], '/spec/containers', false);
  const all = [...ordinary, ...placed(spec.initContainers ?? [], '/spec/initContainers', true)];
  const nameAt = (index: number) => at(all[index]?.pointer ?? '', 'name');
  return [
    ...unless(ordinary.length > 0, '/spec/containers', 'must have at least one container'),
    ...unless(
      all.length <= containersMax,
      '/spec/containers',
      `must be at most ${containersMax}, init containers included`,
    ),
    ...unique(
      all.map(({ container }) => container.name),
      nameAt,
    ),
    ...all.slice(0, containersMax).flatMap(containerProblems),
  ];
}

const placed = (containers: readonly ContainerInput[], pointer: string, init: boolean): readonly PlacedInput[] =>
  containers.map((container, index) => ({ container, pointer: at(pointer, index), init }));

function containerProblems({ container, pointer, init }: PlacedInput): Problems {
  return [
    ...unless(isDnsLabel(container.name), at(pointer, 'name'), 'must be a DNS label of at most 63 characters'),
    ...portsProblems(container.ports ?? [], at(pointer, 'ports')),
    ...envProblems(container.env ?? [], at(pointer, 'env')),
    ...rulesProblems(container, at(pointer, 'restartPolicyRules')),
    ...(init && container.restartPolicy !== 'Always'
      ? initProbesProblems(container, pointer)
      : probesProblems(container, pointer)),
  ];
}

const probeFields = { startupProbe: 'startup', readinessProbe: 'readiness', livenessProbe: 'liveness' } as const;

function probesProblems(container: ContainerInput, pointer: string): Problems {
  const problemsOf = (field: keyof typeof probeFields, probeType: ProbeType) => {
    const probe = container[field];
    return probe ? probeProblems(probe, { probeType, pointer: at(pointer, field) }) : [];
  };
  return topProbes(container).flatMap((field) => problemsOf(field, probeFields[field]));
}

const initProbesProblems = (container: ContainerInput, pointer: string): Problems =>
  topProbes(container).map((field) => ({
    pointer: at(pointer, field),
    detail: 'must not be set for an init container without restartPolicy: Always',
  }));

function portsProblems(ports: readonly PortInput[], pointer: string): Problems {
  const named = ports.flatMap(({ name }, index) => (name ? [{ name, index }] : []));
  const nameAt = (index: number) => at(at(pointer, index), 'name');
  return [
    ...atMost(ports.length, portsMax, pointer),
    ...ports.flatMap(({ containerPort }, index) =>
      inRange(containerPort, { min: portMin, max: portMax }, at(at(pointer, index), 'containerPort')),
    ),
    ...named.flatMap(({ name, index }) =>
      unless(isPortName(name), nameAt(index), 'must be a port name: at most 15 of a-z, 0-9 and -, with a letter'),
    ),
    ...unique(
      named.map(({ name }) => name),
      (place) => nameAt(named[place]?.index ?? 0),
    ),
  ];
}

function envProblems(env: readonly EnvInput[], pointer: string): Problems {
  const nameAt = (index: number) => at(at(pointer, index), 'name');
  return [
    ...atMost(env.length, envMax, pointer),
    ...env.flatMap(({ name }, index) =>
      unless(isEnvName(name), nameAt(index), 'must be printable ASCII characters other than ='),
    ),
  ];
}

function rulesProblems({ restartPolicy, restartPolicyRules = [] }: ContainerInput, pointer: string): Problems {
  const needsPolicy = restartPolicyRules.length > 0 && restartPolicy === undefined;
  return [
    ...unless(!needsPolicy, pointer, 'must not be set without restartPolicy of the container'),
    ...atMost(restartPolicyRules.length, restartPolicyRulesMax, pointer),
    ...restartPolicyRules.flatMap((rule, index) => ruleProblems(rule, at(at(pointer, index), 'values'))),
  ];
}

/** A rule whose codes no process can end with, or without codes, never matches; Kubernetes accepts it. */
function ruleProblems({ values }: RestartPolicyRule, pointer: string): Problems {
  return [
    ...atMost(values.length, exitCodesMax, pointer),
    ...values.flatMap((value, index) => inRange(value, int32, at(pointer, index))),
  ];
}
