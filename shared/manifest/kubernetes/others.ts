/** Resources of Kubernetes that start no Pods, as far as is known. */

import { type Drafts, noDrafts, type Remark } from '../manifest.ts';
import { textOf } from '../values.ts';
import { hasProbes } from './pod-probes.ts';
import { kindOf, type Resource, remark, resourceName } from './resource.ts';

/**
 * One remark for all resources that start no Pods: a release has dozens. One of a kind that is not known, or misspelt,
 * which has probes, may start some.
 */
export function othersLeftOut(others: readonly Resource[]): Drafts {
  const mayProbe = ({ value }: Resource) => !holdsForOthers.has(textOf(value.kind) ?? '') && mentionsProbes(value);
  const { probing = [], harmless = [] } = Object.groupBy(others, (each) => (mayProbe(each) ? 'probing' : 'harmless'));
  const reason = 'is of a kind without a known Pod template';
  return {
    ...noDrafts,
    remarks: [
      ...probing.map((each) => remark(each, 'leftOut', { what: resourceName(each), reason })),
      ...harmlessNote(harmless, reason),
    ],
  };
}

function harmlessNote(resources: readonly Resource[], reason: string): readonly Remark[] {
  const [first, ...more] = resources;
  if (!first) return [];
  if (more.length === 0) return [remark(first, 'note', { what: resourceName(first), reason })];
  const counts = new Map<string, number>();
  for (const kind of resources.map(kindOf)) counts.set(kind || 'item', (counts.get(kind || 'item') ?? 0) + 1);
  const what = [...counts].map(([kind, count]) => (count === 1 ? kind : `${kind} (${count})`)).join(', ');
  return [remark(first, 'note', { what, reason: 'are of kinds without a known Pod template' })];
}

/** They have probes of resources, or in a schema, and start no Pods. */
const holdsForOthers: ReadonlySet<string> = new Set(['ControllerRevision', 'CustomResourceDefinition']);

const mentionsProbes = (value: unknown): boolean =>
  hasProbes(value) || (typeof value === 'object' && value !== null && Object.values(value).some(mentionsProbes));
