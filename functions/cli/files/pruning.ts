/** Deletes what an earlier `apply` of the same set has stored, and this one does not name. */
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { ConvertedTarget } from '../../../shared/manifest/convert.ts';
import { ClientError } from '../../client/client-error.ts';
import { setLabel } from '../server/applying.ts';
import type { Session } from '../server/connection.ts';
import { inOrder } from '../server/in-order.ts';
import { qualifiedName } from './wanted-targets.ts';

export type Pruned = {
  readonly name: string;
  /** Why it was not deleted after all. */
  readonly why?: string;
};

type Pruning = { readonly set: string; readonly dryRun: boolean };

export const deletionsAtOnce = 8;
const preconditionFailed = 412;

/** In the namespaces of the targets only. @throws ClientError */
export async function* prunedTargets(
  session: Session,
  targets: readonly ConvertedTarget[],
  { set, dryRun }: Pruning,
): AsyncGenerator<Pruned> {
  const kept = new Set(targets.map(qualifiedName));
  const stale: TargetView['metadata'][] = [];
  for (const namespace of new Set(targets.map((each) => each.namespace)))
    for await (const { metadata } of session.client.targets({ namespace, labelSelector: `${setLabel}=${set}` }))
      if (!kept.has(qualifiedName(metadata)) && metadata.deletionTimestamp === undefined) stale.push(metadata);
  yield* inOrder(stale, deletionsAtOnce, (metadata) => pruneOne(session, metadata, dryRun));
}

/** Only as it was listed: one that another `apply` has just stored again stays. */
async function pruneOne({ client }: Session, metadata: TargetView['metadata'], dryRun: boolean): Promise<Pruned> {
  const { namespace, name, resourceVersion } = metadata;
  try {
    await client.remove({ namespace, name }, { dryRun, resourceVersion });
    return { name };
  } catch (error) {
    if (error instanceof ClientError && error.status === preconditionFailed)
      return { name, why: 'has changed meanwhile and stays: apply again' };
    throw error;
  }
}
