/**
 * A store that counts the capacity units that DynamoDB would bill for what goes through it ("DynamoDB item sizes and
 * formats", "Read and write operations"). Any store will do. A write is read before and after, because an update is
 * billed by its whole item.
 */
import { type StoreCall, writeUnits } from '../../shared/store/dynamodb/capacity.ts';
import { itemBytes } from '../../shared/store/item-size.ts';
import { keyName, lastWriteAttribute, operationKey } from '../../shared/store/operation.ts';
import type { Item, Key, Operation, Store } from '../../shared/store/store.ts';

const readUnitBytes = 4096;

export function readUnits(bytes: number, eventuallyConsistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / readUnitBytes)) * (eventuallyConsistent ? 0.5 : 1);
}

export function countedStore(store: Store, onCall: (call: StoreCall) => void): Store {
  /** The token of an item's last write counts as an attribute of the item. */
  const tokens = new Map<string, string>();
  const bytesOf = (item: Item | undefined): number =>
    item ? itemBytes({ ...item, [lastWriteAttribute]: tokens.get(keyName(item)) }) : 0;
  const sizesOf = (keys: readonly Key[]) => Promise.all(keys.map(async (key) => bytesOf(await store.get(key))));
  const read = (operation: 'get' | 'query', items: readonly Item[], eventuallyConsistent = false) => {
    const bytes = items.reduce((sum, item) => sum + bytesOf(item), 0);
    onCall({ operation, readUnits: readUnits(bytes, eventuallyConsistent), writeUnits: 0 });
  };
  return {
    async get(key, options) {
      const item = await store.get(key, options);
      read('get', item ? [item] : [], options?.eventuallyConsistent);
      return item;
    },
    async query(query) {
      const items = await store.query(query);
      read('query', items, query.eventuallyConsistent);
      return items;
    },
    async write(operations, options) {
      const operation = requestOf(operations);
      const keys = operations.map(operationKey);
      const before = await sizesOf(keys);
      const outcome = await store.write(operations, options);
      if (outcome.kind === 'written')
        for (const one of operations) if (one.kind !== 'check') tokens.set(keyName(operationKey(one)), options.token);
      const after = await sizesOf(keys);
      const units = before.map((bytes, at) => writeUnits(Math.max(bytes, after[at] ?? 0), operation === 'transaction'));
      onCall({ operation, readUnits: 0, writeUnits: units.reduce((sum, one) => sum + one, 0) });
      return outcome;
    },
  };
}

/** DynamoDB executes a single delete or check as a transaction, at twice the price: see dynamodb/request.ts. */
function requestOf([first, ...others]: readonly Operation[]): StoreCall['operation'] {
  const isSingle = others.length === 0 && (first?.kind === 'put' || first?.kind === 'update');
  return isSingle ? first.kind : 'transaction';
}

export type CountedUnits = { readonly reads: number; readonly writes: number };

export function unitCounter() {
  let [reads, writes] = [0, 0];
  return {
    wrap: (store: Store): Store =>
      countedStore(store, (call) => {
        reads += call.readUnits;
        writes += call.writeUnits;
      }),
    /** Since the last look. */
    taken(): CountedUnits {
      const units = { reads, writes };
      [reads, writes] = [0, 0];
      return units;
    },
  };
}
