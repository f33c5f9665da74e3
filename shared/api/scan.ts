/** Reading many targets in the order of the table: bucket by bucket, a bounded page at a time. */
import { bucketCount } from '../core/slots.ts';
import { bucketName, bucketPk, changesPk, prefixEnd } from '../store/keys.ts';
import { groupedByTarget } from '../table/targets.ts';
import type { ApiDeps } from './deps.ts';
import { type StoredTarget, storedOf } from './stored-target.ts';

/** Where to continue: in this bucket, after this sort key. */
export type Position = { readonly bucket: string; readonly after: string };

export type ScannedTarget = { readonly stored: StoredTarget; readonly position: Position };

/** More items than one target can have, so every page makes progress. */
const pageItemsMax = 1_000;

/** Every readable target after the position; unreadable ones are reported and left out. */
export async function* scanTargets(deps: ApiDeps, from?: Position): AsyncGenerator<ScannedTarget> {
  for (const bucket of await bucketsInUse(deps)) {
    if (from && bucket < from.bucket) continue;
    yield* scanBucket(deps, bucket, from?.bucket === bucket ? from.after : '');
  }
}

/** A bucket whose change counters were never moved has never had a target. */
async function bucketsInUse({ store }: ApiDeps): Promise<readonly string[]> {
  const last = bucketName(bucketCount - 1);
  const items = await store.query({ pk: changesPk, from: bucketName(0), to: last, limit: bucketCount });
  return items.map(({ sk }) => sk);
}

async function* scanBucket(deps: ApiDeps, bucket: string, after: string): AsyncGenerator<ScannedTarget> {
  let from = after;
  for (;;) {
    const items = await deps.store.query({ pk: bucketPk(bucket), from, limit: pageItemsMax });
    const groups = [...groupedByTarget(items)];
    const isLast = items.length < pageItemsMax;
    // The last group of a full page may continue in the next one.
    const incomplete = isLast ? undefined : groups.pop();
    for (const [prefix, group] of groups) {
      const read = storedOf(group, deps.onPoison);
      if (read.kind === 'found') yield { stored: read.stored, position: { bucket, after: prefix + prefixEnd } };
    }
    if (isLast) return;
    from = incomplete?.[0] ?? (items.at(-1)?.sk ?? '') + prefixEnd;
  }
}
