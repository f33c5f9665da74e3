/** The shards as LAYOUT names them. */
import { decodeLayout } from '../../../shared/store/records/items.ts';
import { layoutKey } from '../../../shared/store/records/keys.ts';
import type { Facts } from './checker.ts';

/** Its buckets are [from, to). */
export type Shard = { readonly name: string; readonly from: number; readonly to: number; readonly mode: string };

export function shardsOf({ table }: Pick<Facts, 'table'>): readonly Shard[] {
  const item = table.get(layoutKey);
  const layout = item && decodeLayout(item);
  if (layout?.kind !== 'ok') return [];
  return layout.record.shards.map(({ shard, from, to, mode }) => ({ name: shard, from, to, mode }));
}

/** `00-7f`, both inclusive, as events name a range. */
export function bucketsIn(hashRange: string): readonly number[] {
  const [first = 0, last = 0] = hashRange.split('-').map((bucket) => Number.parseInt(bucket, 16));
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
