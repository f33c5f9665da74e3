/**
 * Resources of Kubernetes that are not probed: those that start no Pods, as far as is known, and those that do but have
 * no probes, have ended or are not reached.
 */
import { type Drafts, noDrafts, type Path, type Remark, type RemarkKind } from '../manifest.ts';
import { hasProbes, secretPath } from '../pod-probes.ts';
import { listOf, type Members, membersOf, textOf, valueAt } from '../values.ts';
import { kindOf, type Resource, remark, resourceName } from './resource.ts';

/**
 * One remark for all resources that start no Pods, because a release has dozens of them. A resource of an unknown or
 * misspelt kind that has probes gets a remark of its own: it may start Pods.
 */
export function othersLeftOut(others: readonly Resource[]): Drafts {
  const mayProbe = ({ value }: Resource) => !holdsForOthers.has(textOf(value.kind) ?? '') && mentionsProbes(value);
  const { probing = [], harmless = [] } = Object.groupBy(others, (each) => (mayProbe(each) ? 'probing' : 'harmless'));
  const reason = 'is of a kind without a known Pod template';
  return {
    ...noDrafts,
    remarks: [
      ...probing.map((each) => remark(each, 'leftOut', resourceName(each), reason)),
      ...harmlessNote(harmless, reason),
    ],
  };
}

function harmlessNote(resources: readonly Resource[], reason: string): readonly Remark[] {
  const [first, ...more] = resources;
  if (!first) return [];
  if (more.length === 0) return [remark(first, 'note', resourceName(first), reason)];
  const counts = new Map<string, number>();
  for (const kind of resources.map(kindOf)) counts.set(kind || 'item', (counts.get(kind || 'item') ?? 0) + 1);
  const what = [...counts].map(([kind, count]) => (count === 1 ? kind : `${kind} (${count})`)).join(', ');
  return [remark(first, 'note', what, 'are of kinds without a known Pod template')];
}

/** They have probes of resources, or in a schema, and start no Pods. */
const holdsForOthers: ReadonlySet<string> = new Set(['ControllerRevision', 'CustomResourceDefinition']);

const mentionsProbes = (value: unknown): boolean =>
  hasProbes(value) || (typeof value === 'object' && value !== null && Object.values(value).some(mentionsProbes));

export type WhyNot = { readonly reason: string; readonly kind: RemarkKind; readonly path?: Path };

const hookAnnotation = 'helm.sh/hook';

const note = (reason: string): WhyNot => ({ reason, kind: 'note' });

/** @param path of the Pod template in the resource */
export function whyNotProbed(resource: Members, template: Members, path: Path): WhyNot | undefined {
  const spec = membersOf(template.spec);
  const ended = whyEnded(resource);
  if (ended) return ended;
  if (!hasProbes(spec)) return { reason: 'has no probes', kind: 'leftOut' };
  if (valueAt(resource, ['metadata', 'annotations', hookAnnotation]) !== undefined)
    return note('is a hook of Helm, which runs it by itself and not with the release');
  if (valueAt(resource, ['spec', 'replicas']) === 0) return note('is scaled to 0: there is nothing to probe');
  if (isPending(resource)) return { reason: 'is pending: it has no address yet', kind: 'leftOut' };
  const secret = secretPath(spec);
  const reason = 'has a secret in a header, which is not stored; write a reference, such as env:PROBELET_SECRET_TOKEN';
  return secret && { reason, kind: 'leftOut', path: [...path, 'spec', ...secret] };
}

function whyEnded({ kind, metadata, status }: Members): WhyNot | undefined {
  if (textOf(membersOf(metadata).deletionTimestamp) !== undefined) return note('is being deleted');
  const { phase, conditions } = membersOf(status);
  if (kind === 'Pod' && (phase === 'Succeeded' || phase === 'Failed')) return note('has finished');
  const isDone = ({ type, status: is }: Members) => (type === 'Complete' || type === 'Failed') && is === 'True';
  return kind === 'Job' && listOf(conditions).map(membersOf).some(isDone) ? note('has finished') : undefined;
}

/** What answers for other Pods, such as a Service, says nothing of this one. */
const isPending = ({ kind, status }: Members): boolean =>
  kind === 'Pod' && membersOf(status).phase === 'Pending' && textOf(membersOf(status).podIP) === undefined;
