/** The annotations that stand for fields that a Pod does not have. */
import { at, type FieldProblem, unless } from '../../core/spec/field-problem.ts';
import type { TargetSpec } from '../../core/spec/spec.ts';
import { nearest } from '../../lib/nearest.ts';
import { ownProperty } from '../../lib/own-property.ts';
import { lifecycle } from '../../schema/terms.ts';
import type { Manifest } from './manifest-schema.ts';

/** The prefix of annotations that have a meaning here. An unknown one is an error, like an unknown field. */
export const annotationPrefix = 'probelet.dev/';
const known = ['host', 'lifecycle', 'config-file'] as const;
/** Contains a Pod's address if its status does not. */
export const hostAnnotation = `${annotationPrefix}${known[0]}`;
/** Stands for `spec.lifecycle`. */
export const lifecycleAnnotation = `${annotationPrefix}${known[1]}`;
/**
 * Names the file from which a configuration registered the target. Removed from the file, the target is removed too.
 */
export const configFileAnnotation = `${annotationPrefix}${known[2]}`;

type Lifecycle = TargetSpec['lifecycle'];
type Annotations = { readonly [key: string]: string };

const pointerOf = (annotation: string): string => at('/metadata/annotations', annotation);

type Address = { readonly host: string | undefined; readonly pointer: string };

/** The host, and the field that contains it or should. */
export function addressOf({ spec, status, metadata }: Manifest): Address {
  if (spec.host) return { host: spec.host, pointer: '/spec/host' };
  if (status?.podIP) return { host: status.podIP, pointer: '/status/podIP' };
  const annotated = metadata?.annotations?.[hostAnnotation];
  if (annotated) return { host: annotated, pointer: pointerOf(hostAnnotation) };
  return { host: undefined, pointer: '/spec/host' };
}

/** undefined: neither the spec nor an annotation sets it. */
export function lifecycleOf({ spec, metadata }: Manifest): Lifecycle | undefined {
  return spec.lifecycle ?? annotatedLifecycle(metadata?.annotations ?? {});
}

/** undefined: there is no such annotation, or its value is invalid. */
export function annotatedLifecycle(annotations: Annotations): Lifecycle | undefined {
  const value = ownProperty(annotations, lifecycleAnnotation);
  return lifecycle.options.find((each) => each === value);
}

/** Annotations of the prefix that are unknown, have an invalid value, or contradict the spec. */
export function annotationProblems({ spec, metadata }: Manifest): readonly FieldProblem[] {
  const annotations = metadata?.annotations ?? {};
  const value = ownProperty(annotations, lifecycleAnnotation);
  return [
    ...Object.keys(annotations)
      .filter((key) => key.startsWith(annotationPrefix))
      .flatMap((key) => nameProblems(key, key.slice(annotationPrefix.length))),
    ...(value === undefined ? [] : lifecycleProblems(value, spec.lifecycle)),
  ];
}

function nameProblems(key: string, name: string): readonly FieldProblem[] {
  const meant = nearest(name, known);
  const detail = `unknown annotation${meant === undefined ? '' : ` (did you mean ${annotationPrefix}${meant}?)`}`;
  return unless(meant === name, pointerOf(key), detail);
}

function lifecycleProblems(value: string, ofSpec: Lifecycle | undefined): readonly FieldProblem[] {
  const pointer = pointerOf(lifecycleAnnotation);
  if (!lifecycle.options.some((each) => each === value))
    return [{ pointer, detail: `must be one of ${lifecycle.options.join(', ')}` }];
  return unless(ofSpec === undefined || value === ofSpec, pointer, `must be absent, or ${ofSpec} as spec.lifecycle is`);
}
