/** The rules of a target's metadata, and of the size of the whole manifest. */
import { at, atMost, type FieldProblem, unless } from './field-problem.ts';
import {
  annotationsBytesMax,
  annotationsMax,
  itemBytesReserved,
  labelsBytesMax,
  labelsMax,
  namespaceLengthMax,
  targetItemBytesMax,
  targetNameLengthMax,
} from './limits.ts';
import { isDnsLabel, isDnsSubdomain, isLabelValue, isQualifiedName } from './names.ts';

type Problems = readonly FieldProblem[];
type Texts = { readonly [key: string]: string };

export type MetadataInput = {
  readonly namespace: string;
  readonly name: string;
  readonly labels?: Texts | undefined;
  readonly annotations?: Texts | undefined;
};

export function metadataProblems({ namespace, name, labels = {}, annotations = {} }: MetadataInput): Problems {
  const labelLike = `must be a DNS label of at most ${namespaceLengthMax} characters`;
  const nameLike = `must be a DNS subdomain of at most ${targetNameLengthMax} characters`;
  return [
    ...unless(isDnsLabel(namespace), '/metadata/namespace', labelLike),
    ...unless(isDnsSubdomain(name), '/metadata/name', nameLike),
    ...textsProblems(labels, '/metadata/labels', {
      isKey: isQualifiedName,
      entriesMax: labelsMax,
      bytesMax: labelsBytesMax,
    }),
    ...Object.entries(labels).flatMap(([key, value]) =>
      unless(isLabelValue(value), at('/metadata/labels', key), 'must be a label value of at most 63 characters'),
    ),
    ...textsProblems(annotations, '/metadata/annotations', {
      isKey: isAnnotationKey,
      entriesMax: annotationsMax,
      bytesMax: annotationsBytesMax,
    }),
  ];
}

/** The client's input must fit into the TARGET item together with what the server adds. */
export function sizeProblems(target: { readonly metadata: MetadataInput; readonly spec: object }): Problems {
  const bytesMax = targetItemBytesMax - itemBytesReserved;
  return unless(bytesOf(JSON.stringify(target)) <= bytesMax, '', `must be at most ${bytesMax} bytes of JSON`);
}

/** Kubernetes compares an annotation's key in lower case, so its prefix may have capitals, which a label's may not. */
const isAnnotationKey = (key: string): boolean => isQualifiedName(key.toLowerCase());

type TextsRules = {
  readonly isKey: (key: string) => boolean;
  readonly entriesMax: number;
  readonly bytesMax: number;
};

function textsProblems(texts: Texts, pointer: string, { isKey, entriesMax, bytesMax }: TextsRules): Problems {
  const keys = Object.keys(texts);
  const bytes = bytesOf(Object.entries(texts).flat().join(''));
  return [
    ...atMost(keys.length, entriesMax, pointer),
    ...unless(bytes <= bytesMax, pointer, `must be at most ${bytesMax} bytes, keys and values together`),
    ...keys.flatMap((key) => unless(isKey(key), at(pointer, key), 'must be a qualified name, like example.com/team')),
  ];
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
