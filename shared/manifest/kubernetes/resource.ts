/** A resource in a file of Kubernetes, and remarks about it. */
import type { Path, Remark, SourceDocument, SourcePath } from '../manifest.ts';
import { type Members, membersOf, textOf } from '../values.ts';

export type Resource = SourcePath & { readonly value: Members };

/** The document, or the items of a list, as `kubectl get -o yaml` writes it. */
export const resourcesOf = (document: SourceDocument): readonly Resource[] =>
  within({ document, path: [], value: membersOf(document.value) });

/** An item may be a list, too. */
function within(resource: Resource): readonly Resource[] {
  const { document, path, value } = resource;
  // A custom resource may have a kind such as AllowList.
  const [, kind] = /^(.*)List$/.exec(textOf(value.kind) ?? '') ?? [];
  if (kind === undefined || !Array.isArray(value.items)) return [resource];
  return value.items.flatMap((item: unknown, index) =>
    within({ document, path: [...path, 'items', index], value: typed(membersOf(item), value, kind) }),
  );
}

/** The API answers with lists such as a PodList, whose items do not repeat their kind. */
function typed(item: Members, { apiVersion }: Members, kind: string): Members {
  return kind === '' || textOf(item.kind) !== undefined ? item : { ...item, apiVersion, kind };
}

export const kindOf = ({ value }: Resource): string => textOf(value.kind) ?? '';

export const resourceName = (resource: Resource): string =>
  `${kindOf(resource) || 'item'} ${textOf(membersOf(resource.value.metadata).name) ?? ''}`.trim();

export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';

export const remark = (
  at: SourcePath,
  kind: Remark['kind'],
  what: string,
  reason: string,
  path: Path = [],
): Remark => ({
  document: at.document,
  path: [...at.path, ...path],
  kind,
  what,
  reason,
});
