/**
 * The usage of a table that many processes share: what the schedule has weighed, and what was added since. Each
 * registration adds to counters of its bucket, which the schedule stores with each weight, so a lost addition is
 * corrected when the bucket is weighed again.
 */

import type { Usage } from '../core/shards/quota.ts';
import { bucketCount } from '../core/shards/slots.ts';
import { type Added, addedIn, decodeWeight } from '../store/records/items.ts';
import { type Bucket, weightsPk } from '../store/records/keys.ts';
import type { WeightRecord } from '../store/records/shard-records.ts';
import type { Store } from '../store/store.ts';
import { readChanges } from './change-counters.ts';

export type StoredUsage = {
  readonly usage: Usage;
  /** Targets that were ever added to the bucket: as its counters are now, and as they were when it was last weighed. */
  readonly addedTo: (bucket: Bucket) => { readonly now: number; readonly weighed: number };
};

/** The counters are read consistently, so they include what this process has added before. */
export async function readUsage(store: Store): Promise<StoredUsage> {
  const items = await store.query({ pk: weightsPk, limit: bucketCount, eventuallyConsistent: true });
  const counters = await readChanges(store, { from: 0, to: bucketCount }, false);
  const weights = new Map(
    items.flatMap((item): readonly [Bucket, WeightRecord][] => {
      const decoded = decodeWeight(item);
      return decoded.kind === 'ok' ? [[item.sk, decoded.record]] : [];
    }),
  );
  const added = new Map([...counters].map(([bucket, item]) => [bucket, addedIn(item)]));
  const parts = [...added].map(([bucket, now]) => bucketUsage(now, weights.get(bucket)));
  const namespaces = namespacesOf([...weights.values()]);
  return {
    usage: {
      targets: parts.reduce((sum, { targets }) => sum + targets, 0),
      cpu: parts.reduce((sum, { cpu }) => sum + cpu, 0),
      targetsOf: (namespace) => namespaces.get(namespace) ?? 0,
    },
    addedTo: (bucket) => ({
      now: added.get(bucket)?.targets ?? 0,
      weighed: weights.get(bucket)?.targetsAdded ?? 0,
    }),
  };
}

/** A weight of a release that stored no counters is used as it is until the next weighing. */
function bucketUsage(now: Added, weight: WeightRecord | undefined): Added {
  if (!weight) return now;
  const { targetsAdded = now.targets, cpuAdded = now.cpu } = weight;
  return { targets: weight.targets + now.targets - targetsAdded, cpu: weight.cpu + now.cpu - cpuAdded };
}

function namespacesOf(weights: readonly WeightRecord[]): ReadonlyMap<string, number> {
  const namespaces = new Map<string, number>();
  for (const { name, targets } of weights.flatMap((weight) => weight.namespaces ?? []))
    namespaces.set(name, (namespaces.get(name) ?? 0) + targets);
  return namespaces;
}
