/** Registers targets of the configuration's files, as the API does for a client. */

import { ok, type problemDocument } from '../../../shared/api/http/problem.ts';
import type { ApiDeps } from '../../../shared/api/ports/deps.ts';
import { manifestsMax } from '../../../shared/api/routes/apply.ts';
import { configFileAnnotation } from '../../../shared/api/schema/annotations.ts';
import { applyManifests } from '../../../shared/api/targets/apply-manifests.ts';
import type { FileTarget } from './file-targets.ts';

export type Placed = FileTarget & { readonly namespace: string; readonly key: string };

/** Each batch has targets of one namespace, at most as many as one request may have. */
export function batchesOf(targets: readonly Placed[]): readonly (readonly Placed[])[] {
  return [...Map.groupBy(targets, ({ namespace }) => namespace).values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / manifestsMax) }, (_, at) =>
      all.slice(at * manifestsMax, (at + 1) * manifestsMax),
    ),
  );
}

type Problem = ReturnType<typeof problemDocument>;
type PutOutcome = { readonly status: number; readonly problem?: Pick<Problem, 'detail' | 'errors'> };

/** Registers the targets of one batch as a client does, each with the annotation that names its file. */
export async function registered(
  deps: ApiDeps,
  batch: readonly Placed[],
  file: string,
): Promise<readonly PutOutcome[]> {
  const entries = batch.map(({ manifest }, document) => ({ document, manifest: ok(marked(manifest, file)) }));
  const applied = await applyManifests(deps, entries, batch[0]?.namespace ?? '', false);
  return applied.kind === 'applied' ? applied.items : batch.map(() => ({ status: applied.status, problem: applied }));
}

function marked(manifest: { readonly metadata?: { readonly annotations?: object } }, file: string): object {
  const annotations = { ...manifest.metadata?.annotations, [configFileAnnotation]: file };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

export const problemText = ({ detail, errors = [] }: Pick<Problem, 'detail' | 'errors'>): string =>
  errors.length === 0
    ? detail
    : errors.map((error) => `${'pointer' in error ? error.pointer : ''} ${error.detail}`).join('; ');
