/** Reading many targets in the order of the table: bucket by bucket, a bounded page at a time. */
import { bucketCount } from '../../core/shards/slots.ts';
import { bucketName, bucketPk, changesPk, isOfNamespace, prefixEnd } from '../../store/records/keys.ts';
import type { Item } from '../../store/store.ts';
import { groupedByTarget } from '../../table/targets.ts';
import type { ApiDeps } from '../ports/deps.ts';
import { type StoredTarget, storedOf } from '../targets/stored-target.ts';

/** Where to continue: in this bucket, after this sort key. */
export type Position = { readonly bucket: string; readonly after: string };

/** `stored`: absent if the target is of another namespace than the one asked for, or unreadable. */
export type ScannedTarget = { readonly stored?: StoredTarget; readonly position: Position };

export type Scan = { readonly from?: Position | undefined; readonly namespace?: string | undefined };

/** More items than one target can have, so every page makes progress. */
const pageItemsMax = 1_000;

/**
 * Every target after the position; unreadable ones are reported. Those of other namespaces are not decoded, which costs
 * far more than reading them.
 */
export async function* scanTargets(deps: ApiDeps, { from, namespace }: Scan = {}): AsyncGenerator<ScannedTarget> {
  for await (const bucket of bucketsInUse(deps, from?.bucket)) {
    for await (const { prefix, items } of bucketTargets(deps, bucket, from?.bucket === bucket ? from.after : '')) {
      const position = { bucket, after: prefix + prefixEnd };
      const isWanted = namespace === undefined || isOfNamespace(prefix, namespace);
      const read = isWanted ? storedOf(items, deps.onPoison) : undefined;
      yield read?.kind === 'found' ? { stored: read.stored, position } : { position };
    }
  }
}

/**
 * Buckets looked up at once. Each has as many change counters as it has targets, so all of them would cost a page of a
 * large fleet more than its targets.
 */
const bucketsPerQuery = 32;

/** A bucket whose change counters were never moved has never had a target. */
async function* bucketsInUse({ store }: ApiDeps, first = bucketName(0)): AsyncGenerator<string> {
  for (let index = Number.parseInt(first, 16); index < bucketCount; ) {
    const [from, to] = [bucketName(index), bucketName(bucketCount - 1)];
    const items = await store.query({ pk: changesPk, from, to, limit: bucketsPerQuery });
    for (const { sk } of items) yield sk;
    if (items.length < bucketsPerQuery) return;
    index = Number.parseInt(items.at(-1)?.sk ?? to, 16) + 1;
  }
}

type TargetItems = { readonly prefix: string; readonly items: readonly Item[] };

async function* bucketTargets({ store }: ApiDeps, bucket: string, after: string): AsyncGenerator<TargetItems> {
  let from = after;
  for (;;) {
    const items = await store.query({ pk: bucketPk(bucket), from, limit: pageItemsMax });
    const groups = [...groupedByTarget(items)];
    const isLast = items.length < pageItemsMax;
    // The last group of a full page may continue in the next one.
    const incomplete = isLast ? undefined : groups.pop();
    for (const [prefix, own] of groups) yield { prefix, items: own };
    if (isLast) return;
    from = incomplete?.[0] ?? (items.at(-1)?.sk ?? '') + prefixEnd;
  }
}
