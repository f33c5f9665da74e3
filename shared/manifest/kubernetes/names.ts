/** Names of targets where resources of several kinds have one name, as Kubernetes allows. */

import type { Draft, Drafts } from '../manifest.ts';
import { membersOf } from '../values.ts';
import { kindOf, type Resource, remark, resourceName } from './resource.ts';

/**
 * Each of them gets its kind behind its name, so that their order does not matter. Two of one kind stay a mistake.
 * `ofNameless`: the namespace of what does not name one.
 */
export function withKindInName(drafted: ReadonlyMap<Resource, Drafts>, ofNameless: string): readonly Drafts[] {
  const keyOf = ({ manifest }: Draft): string => {
    const { namespace = ofNameless, name } = membersOf(manifest.metadata);
    return JSON.stringify([namespace, name]);
  };
  const kinds = new Map<string, Set<string>>();
  for (const [resource, { drafts }] of drafted)
    for (const draft of drafts) {
      const known = kinds.get(keyOf(draft)) ?? new Set<string>();
      kinds.set(keyOf(draft), known.add(kindOf(resource)));
    }
  return [...drafted].map(([resource, { drafts, ...rest }]) => {
    const shared = drafts.find((draft) => (kinds.get(keyOf(draft))?.size ?? 0) > 1);
    return shared ? { ...rest, ...renamed(resource, shared, rest.remarks) } : { drafts, ...rest };
  });
}

function renamed(resource: Resource, draft: Draft, remarks: Drafts['remarks']): Pick<Drafts, 'drafts' | 'remarks'> {
  const metadata = membersOf(draft.manifest.metadata);
  const name = `${metadata.name}-${kindOf(resource).toLowerCase()}`;
  const reason = `becomes the target ${name}, since a resource of another kind has its name, too`;
  return {
    drafts: [{ ...draft, manifest: { ...draft.manifest, metadata: { ...metadata, name } } }],
    remarks: [...remarks, remark(resource, 'note', { what: resourceName(resource), reason }, ['metadata', 'name'])],
  };
}
