/** Why a resource of Kubernetes is not probed: by what it is, or by the state in which kubectl has printed it. */

import type { Path, RemarkKind } from '../manifest.ts';
import { listOf, type Members, membersOf, textOf, valueAt } from '../values.ts';
import { hasProbes, secretPath } from './pod-probes.ts';

export type WhyNot = { readonly reason: string; readonly kind: RemarkKind; readonly path?: Path };

const hookAnnotation = 'helm.sh/hook';

const note = (reason: string): WhyNot => ({ reason, kind: 'note' });

/** `path`: of the Pod template in the resource. */
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
