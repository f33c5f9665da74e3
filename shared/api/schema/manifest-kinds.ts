/** The kinds of Kubernetes documents: which are targets, and what to send instead of the others. */
import { type FieldProblem, unless } from '../../core/spec/field-problem.ts';
import { nearest } from '../../lib/nearest.ts';
import { ownProperty } from '../../lib/own-property.ts';
import { severalTargets } from '../ports/route.ts';

type TypeMeta = { readonly apiVersion?: string | undefined; readonly kind?: string | undefined };

const apiVersions: { readonly [kind: string]: string } = { Pod: 'v1', Target: 'probelet.dev/v1' };

/** The path of the Pod spec in the kinds that start Pods. */
export const podTemplates: { readonly [kind: string]: string } = {
  CronJob: 'spec.jobTemplate.spec.template.spec',
  DaemonSet: 'spec.template.spec',
  Deployment: 'spec.template.spec',
  Job: 'spec.template.spec',
  PodTemplate: 'template.spec',
  ReplicaSet: 'spec.template.spec',
  ReplicationController: 'spec.template.spec',
  StatefulSet: 'spec.template.spec',
};

const listApiVersions: { readonly [kind: string]: string } = {
  List: 'v1',
  PodList: 'v1',
  TargetList: 'probelet.dev/v1',
};

const known = 'must be Target (of probelet.dev/v1) or Pod (of v1)';

/**
 * The one problem of a document of another kind. It has the fields of its kind, so its other mistakes as a target would
 * only follow from that. undefined: the document is a target, or its kind is misspelt, which `kindProblems` reports.
 */
export function foreignKind(document: unknown): FieldProblem | undefined {
  const kind = kindOf(document);
  if (kind === undefined || nearestKind(kind) !== undefined) return undefined;
  return { pointer: '/kind', detail: `${known}${insteadOf(kind)}` };
}

function insteadOf(kind: string): string {
  const template = ownProperty(podTemplates, kind);
  if (template !== undefined)
    return `: for each address of a ${kind} send a Pod, or a Target with the containers of ${template}`;
  return Object.hasOwn(listApiVersions, kind) ? `: ${severalTargets}` : '';
}

/** Whether the document holds others, as `kubectl get -o yaml` writes them. */
export function isList(document: unknown): document is object {
  const kind = kindOf(document);
  return kind !== undefined && Object.hasOwn(listApiVersions, kind);
}

/** What is wrong with the apiVersion of a list. */
export function listProblems({ apiVersion, kind = '' }: TypeMeta): readonly FieldProblem[] {
  const wanted = ownProperty(listApiVersions, kind);
  return unless(apiVersion === wanted, '/apiVersion', `must be ${wanted}`);
}

/** What is wrong with the kind and the apiVersion of what may be a target. Both may be absent. */
export function kindProblems({ apiVersion, kind }: TypeMeta): readonly FieldProblem[] {
  if (kind === undefined) return unless(apiVersion === undefined, '/apiVersion', 'must be absent, as kind is');
  const meant = nearestKind(kind);
  if (meant !== kind) return [{ pointer: '/kind', detail: `${known}${meant ? ` (did you mean ${meant}?)` : ''}` }];
  return unless(apiVersion === apiVersions[kind], '/apiVersion', `must be ${apiVersions[kind]}`);
}

const nearestKind = (kind: string): string | undefined => nearest(kind, Object.keys(apiVersions));

function kindOf(document: unknown): string | undefined {
  const kind = typeof document === 'object' && document !== null && 'kind' in document ? document.kind : undefined;
  return typeof kind === 'string' ? kind : undefined;
}
