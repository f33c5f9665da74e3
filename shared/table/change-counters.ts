/**
 * How a holder notices changed targets without reading them: a write of TARGET or REPORT, and the purge, adds one to
 * the counter of the target's slice before and after it. The holder reads the counters of its buckets and reloads the
 * slices that moved.
 */
import type { Growth } from '../core/shards/quota.ts';
import { bucketCount } from '../core/shards/slots.ts';
import { sleep } from '../lib/clock.ts';
import { changeCounted } from '../store/records/items.ts';
import type { Bucket, TargetAddress } from '../store/records/keys.ts';
import { bucketName, changesPk } from '../store/records/keys.ts';
import { type Item, type Store, StoreUnavailable } from '../store/store.ts';
import type { WritePorts } from './write.ts';

/**
 * A change is picked up within 2 s, including the reload; one look later if an eventually consistent read was stale.
 */
export const changesIntervalMs = 1_500;

const attemptsMax = 8;
const jitterFirstMs = 20;

/**
 * Adds one to the slice of this target. An addition in doubt is repeated: applied twice, it only makes the holder look
 * once more. `growth`: what the write registered, with the addition that follows it.
 * @throws StoreUnavailable when the counter could not be moved.
 */
export async function touchChanges(ports: WritePorts, address: TargetAddress, growth?: Growth): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const outcome = await ports.store.write([changeCounted(address, growth)], { token: ports.random.uuid() });
    if (outcome.kind === 'written') return;
    await sleep(ports.clock, jitterFirstMs * attempt * (0.5 + ports.random.next()));
  }
  throw new StoreUnavailable('the change counter could not be moved');
}

/** Executes a write between the two additions that make it visible to the holder. */
export async function withChange<Answer>(
  ports: WritePorts,
  address: TargetAddress,
  write: () => Promise<Answer>,
): Promise<Answer> {
  await touchChanges(ports, address);
  try {
    return await write();
  } finally {
    await touchChanges(ports, address);
  }
}

export type Slice = { readonly bucket: Bucket; readonly slice: string };

export type ChangeCounters = ReadonlyMap<Bucket, Item>;

/** The counters of the buckets in [from, to); a bucket without an item has never had a target. */
export async function readChanges(
  store: Store,
  range: { readonly from: number; readonly to: number },
  eventuallyConsistent: boolean,
): Promise<ChangeCounters> {
  const items = await store.query({
    pk: changesPk,
    from: bucketName(range.from),
    to: bucketName(range.to - 1),
    limit: bucketCount,
    eventuallyConsistent,
  });
  return new Map(items.map((item) => [item.sk, item]));
}

/** The slices whose counter differs. */
export function movedSlices(before: ChangeCounters, after: ChangeCounters): readonly Slice[] {
  return [...after].flatMap(([bucket, item]) => {
    const old = before.get(bucket);
    if (old === item) return [];
    return Object.keys(item)
      .filter((attribute) => item[attribute] !== old?.[attribute] && isSlice(attribute))
      .map((attribute) => ({ bucket, slice: attribute }));
  });
}

const isSlice = (attribute: string): boolean => /^[0-9a-f]{2}$/.test(attribute);

/** Grows with every change of the bucket and with nothing else. */
export const changesTotal = (item: Item): number =>
  Object.entries(item).reduce(
    (sum, [name, count]) => (isSlice(name) && typeof count === 'number' ? sum + count : sum),
    0,
  );
