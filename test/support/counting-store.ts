/** A store that counts what goes through it: calls, and written items by kind. */
import { operationKey } from '../../shared/store/operation.ts';
import type { Operation, Store } from '../../shared/store/store.ts';

export type StoreCounts = {
  readonly calls: number;
  /** Items written, by kind: PROBE, RUN, … */
  readonly writes: Readonly<Record<string, number>>;
};

export function storeCounter() {
  let calls = 0;
  const writes: Record<string, number> = {};
  return {
    wrap: (store: Store): Store => ({
      get: (key, options) => {
        calls += 1;
        return store.get(key, options);
      },
      query: (query) => {
        calls += 1;
        return store.query(query);
      },
      write: (operations, options) => {
        calls += 1;
        for (const operation of operations) {
          if (operation.kind === 'check') continue;
          const kind = kindOf(operation);
          writes[kind] = (writes[kind] ?? 0) + 1;
        }
        return store.write(operations, options);
      },
    }),
    counts: (): StoreCounts => ({ calls, writes: { ...writes } }),
  };
}

/**
 * By the key: `…#PROBE#<container>#<type>`, `…#STATUS`, `RUN`, and counters and weights, whose sort key is the bucket.
 */
function kindOf(operation: Operation): string {
  const { pk, sk } = operationKey(operation);
  if (pk === 'CHANGES' || pk === 'WEIGHT') return pk;
  return sk.split('#').find((part) => /^[A-Z]+$/.test(part)) ?? sk;
}
