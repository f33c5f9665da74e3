/**
 * The registered weight of every bucket, kept in items of their own. Nobody adds to them: the schedule weighs the targets of a bucket
 * anew when its change counters have moved, which they do before and after each change. So a lost answer, a repetition or a second
 * schedule can make a weight late, never wrong for good.
 */
import { bucketCount } from '../core/slots.ts';
import { type BucketWeight, noWeight, weightFormula, weightOf } from '../core/weight.ts';
import type { Log } from '../lib/log.ts';
import { decodeTarget, decodeWeight, encodeWeight, type WeightRecord } from '../store/items.ts';
import { type Bucket, bucketName, bucketPk, weightsPk } from '../store/keys.ts';
import type { Store } from '../store/store.ts';
import { changesTotal, readChanges } from './changes.ts';
import { type WritePorts, writeSurely } from './write.ts';

export type WeightPorts = WritePorts & { readonly store: Store; readonly log: Log };

/** Buckets weighed anew in one minute. With more than that on the move the layout follows some minutes later. */
const bucketsPerMinuteMax = 64;

/** The weight of every bucket, in order. */
export async function readWeights(ports: WeightPorts): Promise<readonly BucketWeight[]> {
  const counters = await readChanges(ports.store, { from: 0, to: bucketCount }, false);
  const known = await storedWeights(ports.store);
  const totals = new Map([...counters].map(([bucket, item]) => [bucket, changesTotal(item)]));
  for (const bucket of moved(totals, known, ports.clock.nowMs()))
    known.set(bucket, await weigh(ports, bucket, totals.get(bucket) ?? 0));
  return Array.from({ length: bucketCount }, (_, index) => known.get(bucketName(index)) ?? noWeight);
}

/** One that cannot be read, or was weighed in another way, is missing: it is weighed anew. */
async function storedWeights(store: Store): Promise<Map<Bucket, WeightRecord>> {
  const items = await store.query({ pk: weightsPk, limit: bucketCount });
  return new Map(
    items.flatMap((item): readonly [Bucket, WeightRecord][] => {
      const decoded = decodeWeight(item);
      return decoded.kind === 'ok' && decoded.record.formula === weightFormula ? [[item.sk, decoded.record]] : [];
    }),
  );
}

/** Buckets that were never weighed, all of them; of the others as many as a minute allows, another part each minute. */
function moved(
  totals: ReadonlyMap<Bucket, number>,
  known: ReadonlyMap<Bucket, WeightRecord>,
  nowMs: number,
): readonly Bucket[] {
  const stale = [...totals.keys()].filter((bucket) => known.get(bucket)?.changes !== totals.get(bucket));
  const never = stale.filter((bucket) => !known.has(bucket));
  const again = stale.filter((bucket) => known.has(bucket));
  const turn = Math.floor(nowMs / 60_000) * bucketsPerMinuteMax;
  const at = again.length > bucketsPerMinuteMax ? turn % again.length : 0;
  return [...never, ...[...again.slice(at), ...again.slice(0, at)].slice(0, bucketsPerMinuteMax)];
}

/** The counters are read before the targets: a change between the two makes them differ next time. */
async function weigh(ports: WeightPorts, bucket: Bucket, changes: number): Promise<WeightRecord> {
  const items = await ports.store.query({ pk: bucketPk(bucket) });
  const specs = items.flatMap((item) => {
    const decoded = item.kind === 'TARGET' ? decodeTarget(item) : undefined;
    return decoded?.kind === 'ok' ? [decoded.record.spec] : [];
  });
  const record: WeightRecord = { ...weightOf(specs), changes, formula: weightFormula };
  const written = await writeSurely(ports, [{ kind: 'put', item: encodeWeight(bucket, record) }]);
  if (written.kind !== 'written') ports.log.warn('weight not written', { bucket, outcome: written.kind });
  return record;
}
