/** A store that counts the capacity units that DynamoDB would bill for what goes through it. */
import { itemBytes, readUnits, writeUnits } from '../../shared/store/item-size.ts';
import type { Item, Operation, Store } from '../../shared/store/store.ts';

export type CountedUnits = { readonly reads: number; readonly writes: number };

export function unitCounter() {
  let [reads, writes] = [0, 0];
  return {
    wrap: (store: Store): Store => ({
      async get(key, options) {
        const item = await store.get(key, options);
        reads += unitsOf(item ? [item] : [], options);
        return item;
      },
      async query(query) {
        const items = await store.query(query);
        reads += unitsOf(items, query);
        return items;
      },
      write(operations, options) {
        const isTransaction = operations.length > 1;
        for (const operation of operations) writes += writeUnits(writtenBytes(operation), isTransaction);
        return store.write(operations, options);
      },
    }),
    /** Since the last look. */
    taken(): CountedUnits {
      const units = { reads, writes };
      [reads, writes] = [0, 0];
      return units;
    },
  };
}

type Consistency = { readonly eventuallyConsistent?: boolean };

const unitsOf = (items: readonly Item[], { eventuallyConsistent = false }: Consistency = {}): number =>
  readUnits(
    items.reduce((bytes, item) => bytes + itemBytes(item), 0),
    eventuallyConsistent,
  );

/** Of an update what it sets: the items of a steady shard are far below a kilobyte. */
function writtenBytes(operation: Operation): number {
  switch (operation.kind) {
    case 'put':
      return itemBytes(operation.item);
    case 'update':
      return itemBytes(operation.set ?? {});
    case 'check':
    case 'delete':
      return 0;
  }
}
