/**
 * Many targets in one request. Each manifest of the body is stored as by `PUT …/targets/{name}` and gets its own
 * answer. Targets that the body does not name stay unchanged.
 */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import { manifestMediaTypes, readDocuments } from '../http/body.ts';
import { dryRunParam, readFlag } from '../http/parameters.ts';
import {
  type Checked,
  invalidFields,
  invalidParameters,
  jsonResponse,
  ok,
  type Problem,
  problemResponse,
  problemSchema,
} from '../http/problem.ts';
import { type Handler, namespaceParams, type Route, targetsPath } from '../ports/route.ts';
import { entriesOf, type ManifestEntry, manifestsSchema } from '../schema/manifest-list.ts';
import { targetViewSchema } from '../schema/target-schema.ts';
import { applyManifests } from '../targets/apply-manifests.ts';
import { manifestChanges } from '../targets/put-manifest.ts';

/** Few enough to be stored one after the other before the caller times out. */
export const manifestsMax = 100;

const appliedSchema = z
  .object({
    document: z
      .int()
      .openapi({ description: 'Index of the document in the body, from 0; empty documents are not counted.' }),
    item: z.int().optional().openapi({ description: 'Index of the item in its list, from 0.' }),
    namespace: z.string(),
    name: z.string().optional(),
    status: z.int().openapi({ description: 'The status that a PUT of this manifest alone would have.' }),
    change: z.enum(manifestChanges).optional().openapi({ description: 'What was done; absent with a problem.' }),
    warning: z.string().optional().openapi({ description: 'As the header of a PUT of this manifest alone.' }),
    target: targetViewSchema.optional().openapi({ description: 'Absent where the answer would become too large.' }),
    problem: problemSchema.optional().openapi({ description: 'Its pointers are relative to the manifest.' }),
  })
  .openapi('AppliedManifest');

const appliedListSchema = z
  .object({
    failed: z.int().openapi({ description: 'How many items have a problem.' }),
    items: z.array(appliedSchema).openapi({ description: 'In the order of the body.' }),
  })
  .openapi('AppliedManifests');

const putTargets: Handler = async ({ raw, query, params }, deps) => {
  const dryRun = readFlag(query, 'dryRun');
  if (dryRun.kind === 'problem') return problemResponse(dryRun);
  const conditional = conditionalProblem(raw.headers);
  if (conditional) return problemResponse(conditional);
  const documents = await readDocuments(raw, manifestMediaTypes, { deps, isLarge: true });
  if (documents.kind === 'problem') return problemResponse(documents);
  const entries = countedEntries(documents.value);
  if (entries.kind === 'problem') return problemResponse(entries);

  const applied = await applyManifests(deps, entries.value, params.namespace ?? '', dryRun.value);
  if (applied.kind === 'problem') return problemResponse(applied);
  return jsonResponse(200, { failed: applied.failed, items: applied.items });
};

/** A precondition concerns one target. Ignoring it would overwrite what the client wants to keep. */
export function conditionalProblem(headers: Headers): Problem | undefined {
  const given = ['If-Match', 'If-None-Match'].filter((name) => headers.has(name));
  const errors = given.map((parameter) => ({ parameter, detail: 'must be absent: it is for one target' }));
  return errors.length === 0 ? undefined : invalidParameters(errors);
}

function countedEntries(documents: readonly unknown[]): Checked<readonly ManifestEntry[]> {
  if (documents.length === 0) return invalidFields([{ pointer: '', detail: 'must have at least one document' }]);
  const entries = entriesOf(documents);
  if (entries.length <= manifestsMax) return ok(entries);
  return invalidFields([
    { pointer: '', detail: `must have at most ${manifestsMax} manifests, and has ${entries.length}` },
  ]);
}

export const applyRoutes: readonly Route[] = [
  {
    method: 'put',
    path: targetsPath,
    summary: 'Registers or replaces each target of the body, and leaves all others as they are. Idempotent',
    params: namespaceParams,
    query: z.object({ dryRun: dryRunParam }),
    body: { mediaTypes: Object.keys(manifestMediaTypes), schema: manifestsSchema, required: true },
    answers: { 200: { description: 'The outcome of each manifest.', schema: appliedListSchema } },
    problems: [400, 413, 415, 422],
    handle: putTargets,
  },
];
