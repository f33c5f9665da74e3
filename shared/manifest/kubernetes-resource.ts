/** A resource in a file of Kubernetes, and remarks about it. */
import type { Path, Remark, SourceDocument, SourcePath } from './manifest.ts';
import { listOf, type Members, membersOf, textOf } from './values.ts';

export type Resource = SourcePath & { readonly value: Members };

/** The document, or the items of a list, as `kubectl get -o yaml` writes it. */
export function resourcesOf(document: SourceDocument): readonly Resource[] {
  const value = membersOf(document.value);
  // A custom resource may have a kind such as AllowList.
  const isList = textOf(value.kind)?.endsWith('List') === true && Array.isArray(value.items);
  if (!isList) return [{ document, path: [], value }];
  return listOf(value.items).map((item, index) => ({ document, path: ['items', index], value: membersOf(item) }));
}

export const kindOf = ({ value }: Resource): string => textOf(value.kind) ?? '';

export const resourceName = (resource: Resource): string =>
  `${kindOf(resource) || 'item'} ${textOf(membersOf(resource.value.metadata).name) ?? ''}`.trim();

export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';

export type Remarked = { readonly what: string; readonly reason: string };

export const remark = (at: SourcePath, kind: Remark['kind'], { what, reason }: Remarked, path: Path = []): Remark => ({
  document: at.document,
  path: [...at.path, ...path],
  kind,
  what,
  reason,
});
