/**
 * The registered weight of every bucket, kept in separate items. No writer adds to them: the schedule weighs the
 * targets of a bucket again when its change counters have moved, which they do before and after each change. So a lost
 * answer, a repetition or a second schedule can delay a weight but never leave it wrong.
 */

import { bucketCount } from '../core/shards/slots.ts';
import { type BucketWeight, noWeight, sumOf, weightFormula, weightOf } from '../core/shards/weight.ts';
import { within } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { addedIn, decodeTarget, decodeWeight, encodeWeight } from '../store/records/items.ts';
import { type Bucket, bucketName, bucketPk, weightsPk } from '../store/records/keys.ts';
import type { WeightRecord } from '../store/records/shard-records.ts';
import type { Item, Store } from '../store/store.ts';
import { changesTotal, readChanges } from '../table/change-counters.ts';
import { type WritePorts, writeSurely } from '../table/write.ts';

export type WeightPorts = WritePorts & { readonly store: Store; readonly log: Log };

/** Buckets weighed in one minute. If more than that change, the layout follows some minutes later. */
const bucketsPerMinuteMax = 64;
/**
 * Time limit for weighing. As a function the schedule has 50 s, and its second look at beats takes up to 6 s. Each
 * weight is stored as soon as it is known, so the next schedule continues with the remaining buckets.
 */
const weighingMsMax = 20_000;

export class WeighingTooSlow extends Error {
  override readonly name = 'WeighingTooSlow';
}

/**
 * The weight of every bucket, in order, as far as there is time to weigh.
 * @throws WeighingTooSlow when not even the stored weights could be read in time.
 */
export async function readWeights(ports: WeightPorts): Promise<readonly BucketWeight[]> {
  const over = new AbortController();
  const weighing: Weighing = { known: new Map(), signal: over.signal };
  const failed: { cause?: unknown } = {};
  const working = weighAll(ports, weighing).catch((cause: unknown) => {
    failed.cause = cause;
  });
  await within(ports.clock, working, weighingMsMax);
  over.abort();
  if (failed.cause !== undefined) throw failed.cause;
  const { known, registered } = weighing;
  if (!registered) throw new WeighingTooSlow('the stored weights were not read in time');
  const rest = registered.filter((bucket) => !known.has(bucket)).length;
  if (rest > 0) ports.log.warn('buckets not weighed in time', { buckets: rest });
  const unknown = unknownWeight([...known.values()]);
  return Array.from({ length: bucketCount }, (_, index) => {
    const bucket = bucketName(index);
    return known.get(bucket) ?? (registered.includes(bucket) ? unknown : noWeight);
  });
}

type Weighing = {
  readonly known: Map<Bucket, WeightRecord>;
  readonly signal: AbortSignal;
  /** Every bucket that has ever had a target, once that is known. */
  registered?: readonly Bucket[];
};

/** Fills in the stored weights, then weighs one bucket after the other until the time is over. */
async function weighAll(ports: WeightPorts, weighing: Weighing): Promise<void> {
  const { known, signal } = weighing;
  const changes = await readChanges(ports.store, { from: 0, to: bucketCount }, false);
  for (const [bucket, record] of await storedWeights(ports.store)) known.set(bucket, record);
  const totals = new Map([...changes].map(([bucket, item]) => [bucket, changesTotal(item)]));
  weighing.registered = [...totals.keys()];
  for (const bucket of moved(totals, known, ports.clock.nowMs())) {
    if (signal.aborted) return;
    const counters = changes.get(bucket);
    if (!counters) continue;
    const record = await weigh(ports, bucket, counters);
    if (!signal.aborted) known.set(bucket, record);
  }
}

/**
 * For a bucket whose targets have not been weighed yet: the average weight of the others, and resident. Without a
 * weight the bucket would count as empty, and shards would be merged or left idle because of it.
 */
function unknownWeight(known: readonly BucketWeight[]): BucketWeight {
  const { cpu, sockets, memory } = sumOf(known);
  const count = Math.max(1, known.length);
  return { targets: 1, cpu: cpu / count, sockets: sockets / count, memory: memory / count, mode: 'resident' };
}

/**
 * An unreadable weight counts as missing. A weight of another formula is used until its bucket has been weighed again.
 */
async function storedWeights(store: Store): Promise<ReadonlyMap<Bucket, WeightRecord>> {
  const items = await store.query({ pk: weightsPk, limit: bucketCount });
  return new Map(
    items.flatMap((item): readonly [Bucket, WeightRecord][] => {
      const decoded = decodeWeight(item);
      return decoded.kind === 'ok' ? [[item.sk, decoded.record]] : [];
    }),
  );
}

/**
 * Buckets that were never weighed, all of them; of the others as many as a minute allows, a different part each minute.
 */
function moved(
  totals: ReadonlyMap<Bucket, number>,
  known: ReadonlyMap<Bucket, WeightRecord>,
  nowMs: number,
): readonly Bucket[] {
  const never = [...totals.keys()].filter((bucket) => !known.has(bucket));
  const again = [...totals].flatMap(([bucket, changes]) => {
    const weight = known.get(bucket);
    return weight && (weight.changes !== changes || weight.formula !== weightFormula) ? [bucket] : [];
  });
  const turn = Math.floor(nowMs / 60_000) * bucketsPerMinuteMax;
  const at = again.length > bucketsPerMinuteMax ? turn % again.length : 0;
  return [...never, ...[...again.slice(at), ...again.slice(0, at)].slice(0, bucketsPerMinuteMax)];
}

/** The counters are read before the targets: a change between the two makes them differ next time. */
async function weigh(ports: WeightPorts, bucket: Bucket, counters: Item): Promise<WeightRecord> {
  const items = await ports.store.query({ pk: bucketPk(bucket) });
  const targets = items.flatMap((item) => {
    const decoded = item.kind === 'TARGET' ? decodeTarget(item) : undefined;
    return decoded?.kind === 'ok' ? [decoded.record] : [];
  });
  const added = addedIn(counters);
  const record: WeightRecord = {
    ...weightOf(targets.map(({ spec }) => spec)),
    changes: changesTotal(counters),
    formula: weightFormula,
    targetsAdded: added.targets,
    cpuAdded: added.cpu,
    namespaces: largestNamespaces(targets),
  };
  const written = await writeSurely(ports, [{ kind: 'put', item: encodeWeight(bucket, record) }]);
  if (written.kind !== 'written') ports.log.warn('weight not written', { bucket, outcome: written.kind });
  return record;
}

/**
 * Namespaces stored with a weight: a client that invents namespaces cannot make the item larger. A namespace that is
 * left out has fewer targets than all of these, so at most that part of all targets goes uncounted for it.
 */
const namespacesMax = 64;

function largestNamespaces(targets: readonly { readonly namespace: string }[]) {
  const counts = new Map<string, number>();
  for (const { namespace } of targets) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  return [...counts]
    .map(([name, count]) => ({ name, targets: count }))
    .sort((one, other) => other.targets - one.targets)
    .slice(0, namespacesMax);
}
