/**
 * Quotas where many processes register: what the schedule has weighed, and what was added since. Whoever registers adds to counters of the
 * bucket, which the schedule notes with each weight, so a lost addition is made up for as soon as the bucket is weighed anew. What is read is
 * good for some seconds: other processes may let through meanwhile what exceeds a limit, but no more than they register in that time. Counts
 * of a namespace are as old as the weights, up to five minutes.
 */
import {
  type Excess,
  excessOf,
  type Growth,
  type QuotaLimits,
  type Quotas,
  type Usage,
  withGrowths,
} from '../core/quota.ts';
import { bucketCount } from '../core/slots.ts';
import type { Clock } from '../lib/clock.ts';
import { addedIn, decodeWeight, type WeightRecord } from '../store/items.ts';
import { weightsPk } from '../store/keys.ts';
import type { Item, Store } from '../store/store.ts';
import { readChanges } from './changes.ts';

/** Of what was read. Reading it takes up to a megabyte of the table, so not every registration does. */
export const usageAgeMaxMs = 10_000;

type Counted = { readonly usage: Usage; readonly readAtMs: number };

/** A growth that this process has let through and that was perhaps not read yet. */
type Own = { readonly growth: Growth; endedAtMs?: number };

export function storedQuotas(limits: QuotaLimits, ports: { readonly store: Store; readonly clock: Clock }): Quotas {
  const { clock } = ports;
  const own = new Set<Own>();
  let counted: Counted | undefined;
  let reading: Promise<Counted> | undefined;

  async function read(): Promise<Counted> {
    const readAtMs = clock.monotonicMs();
    const usage = await readUsage(ports.store);
    for (const each of own) if (each.endedAtMs !== undefined && each.endedAtMs < readAtMs) own.delete(each);
    counted = { usage, readAtMs };
    return counted;
  }
  async function current(): Promise<Counted> {
    if (counted && clock.monotonicMs() - counted.readAtMs < usageAgeMaxMs) return counted;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  }
  return {
    async take(_, growth) {
      const { usage } = await current();
      const excess: Excess | undefined = excessOf(
        limits,
        withGrowths(
          usage,
          [...own].map(({ growth: each }) => each),
        ),
        growth,
      );
      if (excess) return { kind: 'exceeded', excess };
      const mine: Own = { growth };
      own.add(mine);
      const end = (isStored: boolean) => {
        if (isStored) mine.endedAtMs = clock.monotonicMs();
        else own.delete(mine);
      };
      return { kind: 'taken', end };
    },
  };
}

/** The counters are read consistently: what this process has added before is in them. */
async function readUsage(store: Store): Promise<Usage> {
  const weights = await store.query({ pk: weightsPk, limit: bucketCount, eventuallyConsistent: true });
  const counters = await readChanges(store, { from: 0, to: bucketCount }, false);
  const weighed = new Map(
    weights.flatMap((item): readonly [string, WeightRecord][] => {
      const decoded = decodeWeight(item);
      return decoded.kind === 'ok' ? [[item.sk, decoded.record]] : [];
    }),
  );
  const parts = [...counters].map(([bucket, item]) => bucketUsage(item, weighed.get(bucket)));
  const namespaces = new Map<string, number>();
  for (const { name, targets } of [...weighed.values()].flatMap(({ namespaces: named = [] }) => named))
    namespaces.set(name, (namespaces.get(name) ?? 0) + targets);
  return {
    targets: parts.reduce((sum, { targets }) => sum + targets, 0),
    cpu: parts.reduce((sum, { cpu }) => sum + cpu, 0),
    targetsOf: (namespace) => namespaces.get(namespace) ?? 0,
  };
}

/** A weight of a release that noted no counters is taken as it is, until the next one. */
function bucketUsage(counters: Item, weight: WeightRecord | undefined) {
  const added = addedIn(counters);
  if (!weight) return added;
  const before = { targets: weight.targetsAdded ?? added.targets, cpu: weight.cpuAdded ?? added.cpu };
  return {
    targets: weight.targets + added.targets - before.targets,
    cpu: weight.cpu + added.cpu - before.cpu,
  };
}
