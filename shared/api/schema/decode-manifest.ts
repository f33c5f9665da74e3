/**
 * From a body to a target that may be stored: shape, then address, then the rules of the core. Every invalid field is
 * named at once.
 */
import type { FieldProblem } from '../../core/spec/field-problem.ts';
import type { TargetName } from '../../core/spec/names.ts';
import type { TargetSpec } from '../../core/spec/spec.ts';
import type { TargetSpecInput } from '../../core/spec/spec-input.ts';
import { metadataProblems, sizeProblems } from '../../core/spec/validate-metadata.ts';
import { validateTargetSpec } from '../../core/spec/validate-target.ts';
import { valueSize } from '../../lib/json.ts';
import { ownProperty } from '../../lib/own-property.ts';
import { depthMax } from '../http/json.ts';
import { type Checked, errorsMax, invalidFields, ok } from '../http/problem.ts';
import { addressOf, annotationProblems, lifecycleOf } from './annotations.ts';
import { keptOutOfManifest, keptOutOfManifestAt } from './kept-out.ts';
import { foreignKind, kindProblems } from './manifest-kinds.ts';
import { type Manifest, manifestSchema } from './manifest-schema.ts';
import { shapeOf, withoutFields } from './shape.ts';

/** The part of a target that a client decides. */
export type DecodedTarget = TargetName & {
  readonly labels: { readonly [key: string]: string };
  readonly annotations: { readonly [key: string]: string };
  readonly spec: TargetSpec;
};

export type DecodedManifest = { readonly target: DecodedTarget; readonly ignored: readonly string[] };

export function decodeManifest(body: unknown, name: TargetName): Checked<DecodedManifest> {
  const decoded = decodedBody(body, name);
  return decoded.kind === 'invalid' ? invalidFields(decoded.problems) : decoded;
}

/** Decodes a manifest that has to name its target itself; without a namespace, that too. */
export function decodeNamedManifest(body: unknown, namespace: string | undefined): Checked<DecodedManifest> {
  const name = nameIn(body);
  const address = { namespace: namespace ?? unnamed, name: name ?? unnamed };
  const missing = [
    ...(namespace === undefined ? [namespaceRequired] : []),
    ...(name === undefined ? [nameRequired] : []),
  ];
  if (missing.length === 0 || foreignKind(body)) return decodeManifest(body, address);
  const decoded = decodedBody(body, address);
  const problems = decoded.kind === 'invalid' ? decoded.problems : [];
  const isCovered = (field: FieldProblem) =>
    problems.some(({ pointer }) => `${field.pointer}/`.startsWith(`${pointer}/`));
  return invalidFields([...missing.filter((field) => !isCovered(field)), ...problems]);
}

/** Without what does not concern probing. A target must fit 28 KiB, and each value may be a mistake to be named. */
const manifestValuesMax = 4_000;
const tooManyValues: FieldProblem = { pointer: '', detail: `must have at most ${manifestValuesMax} values` };

/** A valid name, so that of a manifest without a name only the other mistakes are found. */
const unnamed = 'unnamed';
const namespaceRequired: FieldProblem = { pointer: '/metadata/namespace', detail: 'is required' };
const nameRequired: FieldProblem = { pointer: '/metadata/name', detail: 'is required' };

/** undefined: there is none, or it is not a text. */
export const nameIn = (body: unknown): string | undefined => metadataText(body, 'name');

/** As `nameIn`. Kubernetes reads an empty one as absent. */
export const namespaceIn = (body: unknown): string | undefined => metadataText(body, 'namespace') || undefined;

function metadataText(body: unknown, field: string): string | undefined {
  const text = memberOf(memberOf(body, 'metadata'), field);
  return typeof text === 'string' ? text : undefined;
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? ownProperty(value as { readonly [name: string]: unknown }, name)
    : undefined;

type Decoded =
  | { readonly kind: 'ok'; readonly value: DecodedManifest }
  | { readonly kind: 'invalid'; readonly problems: readonly FieldProblem[] };

function decodedBody(body: unknown, name: TargetName): Decoded {
  const foreign = foreignKind(body);
  if (foreign) return { kind: 'invalid', problems: [foreign] };
  const { value, ignored } = keptOutOfManifest(body, manifestValuesMax);
  if (valueSize(value, { valuesMax: manifestValuesMax, depthMax }).kind !== 'counted')
    return { kind: 'invalid', problems: [tooManyValues] };
  const shaped = shapeOf(manifestSchema, value, keptOutOfManifestAt);
  if (shaped.kind === 'invalid') {
    // An answer has no room for more.
    const further = shaped.problems.length < errorsMax ? furtherProblems(value, shaped.problems, name) : [];
    return { kind: 'invalid', problems: [...shaped.problems, ...further] };
  }
  const ruled = ruledManifest(shaped.value, name);
  return ruled.kind === 'valid' ? ok({ target: ruled.target, ignored }) : ruled;
}

/** Further problems once the fields of a wrong shape are removed, so that a client sees everything at once. */
function furtherProblems(value: unknown, wrong: readonly FieldProblem[], name: TargetName): readonly FieldProblem[] {
  const rest = shapeOf(manifestSchema, withoutFields(value, wrong));
  if (rest.kind === 'invalid') return [];
  const ruled = ruledManifest(rest.value, name);
  // A consequence of a removed field is not a mistake of the client.
  const follows = ({ pointer }: FieldProblem) => wrong.some((each) => `${each.pointer}/`.startsWith(`${pointer}/`));
  return ruled.kind === 'valid' ? [] : ruled.problems.filter((each) => !follows(each));
}

type Ruled =
  | { readonly kind: 'valid'; readonly target: DecodedTarget }
  | { readonly kind: 'invalid'; readonly problems: readonly FieldProblem[] };

/** Applies the rules of the core. */
function ruledManifest(manifest: Manifest, name: TargetName): Ruled {
  const labels = manifest.metadata?.labels ?? {};
  const annotations = manifest.metadata?.annotations ?? {};
  const input = specInput(manifest);
  const validated = validateTargetSpec(input);
  const problems = [
    ...kindProblems(manifest),
    ...identityProblems(manifest, name),
    ...metadataProblems({ ...name, labels, annotations }),
    ...annotationProblems(manifest),
    ...(validated.kind === 'invalid' ? validated.problems.map((each) => asWritten(each, manifest)) : []),
    ...sizeProblems({ metadata: { ...name, labels, annotations }, spec: input }),
  ];
  if (problems.length > 0 || validated.kind === 'invalid') return { kind: 'invalid', problems };
  return { kind: 'valid', target: { ...name, labels, annotations, spec: validated.spec } };
}

function identityProblems({ metadata }: Manifest, name: TargetName): readonly FieldProblem[] {
  // Kubernetes replaces an empty namespace, but not an empty name, by that of the path.
  const given = { namespace: metadata?.namespace || undefined, name: metadata?.name };
  return (['namespace', 'name'] as const)
    .filter((field) => given[field] !== undefined && given[field] !== name[field])
    .map((field) => ({
      pointer: `/metadata/${field}`,
      detail: `must be ${JSON.stringify(name[field])}, as in the path`,
    }));
}

type ContainerManifest = NonNullable<Manifest['spec']['containers']>[number];

function specInput(manifest: Manifest): TargetSpecInput {
  const { spec } = manifest;
  return {
    ...spec,
    host: addressOf(manifest).host,
    lifecycle: lifecycleOf(manifest),
    containers: spec.containers?.map(containerInput),
    initContainers: spec.initContainers?.map(containerInput),
  };
}

/** Kubernetes nests a rule's operator and values under `exitCodes`, the only criterion. */
function containerInput(container: ContainerManifest) {
  const rules = container.restartPolicyRules?.map(({ action, exitCodes }) => {
    const { operator, values = [] } = exitCodes;
    return { action, operator, values };
  });
  return { ...container, restartPolicyRules: rules };
}

/** The field as the client wrote it. */
function asWritten({ pointer, detail }: FieldProblem, manifest: Manifest): FieldProblem {
  if (pointer === '/spec/host') return { pointer: addressOf(manifest).pointer, detail };
  return { pointer: pointer.replace(/(Rules\/\d+)\/values/, '$1/exitCodes/values'), detail };
}
