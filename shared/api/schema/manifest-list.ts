/**
 * The manifests that a body holds: each of its documents is one, or a list of them, as `kubectl get -o yaml` writes it.
 */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import { type Checked, invalidFields, ok } from '../http/problem.ts';
import { isList, listProblems } from './manifest-kinds.ts';
import { manifestSchema } from './manifest-schema.ts';
import { decodeShape } from './shape.ts';

export type ManifestEntry = {
  /** Index in the body, from 0; empty documents are not counted. */
  readonly document: number;
  /** Index in the list, from 0; absent where the document is no list. */
  readonly item?: number;
  /** The problem, if the document is a malformed list. */
  readonly manifest: Checked<unknown>;
};

/** The metadata of a list does not concern probing. */
const listSchema = z.strictObject({
  apiVersion: z.string().optional(),
  kind: z.string(),
  metadata: z.unknown().optional(),
  items: z.array(z.unknown()),
});

/** One document of a body that may hold several. */
export const manifestsSchema = z
  .union([
    manifestSchema,
    listSchema.extend({ kind: z.enum(['List', 'PodList', 'TargetList']), items: z.array(manifestSchema) }),
  ])
  .openapi('TargetManifests', {
    description: 'A target that is named by its metadata, or a list of them. YAML may have several documents of both.',
  });

export const entriesOf = (documents: readonly unknown[]): readonly ManifestEntry[] =>
  documents.flatMap((value, document) =>
    isList(value) ? listEntries(value, document) : [{ document, manifest: ok(value) }],
  );

function listEntries(list: object, document: number): readonly ManifestEntry[] {
  const items: readonly unknown[] | undefined = 'items' in list && Array.isArray(list.items) ? list.items : undefined;
  // The items are validated one by one.
  const shaped = decodeShape(listSchema, items ? { ...list, items: [] } : list);
  if (shaped.kind === 'problem') return [{ document, manifest: shaped }];
  const problems = listProblems(shaped.value);
  if (problems.length > 0) return [{ document, manifest: invalidFields(problems) }];
  return (items ?? []).map((each, item) => ({ document, item, manifest: isList(each) ? listInList : ok(each) }));
}

const listInList = invalidFields([{ pointer: '/kind', detail: 'must not be a list: it stands in one' }]);
