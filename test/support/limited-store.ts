/**
 * A store with the capacity of a table, in front of another one: write units a second, of which a burst of a few
 * seconds may have been saved. What exceeds them is throttled at once, as the adapter of DynamoDB says it.
 */
import { type Clock, sleep } from '../../shared/lib/clock.ts';
import type { Random } from '../../shared/lib/random.ts';
import { type Operation, type Store, StoreThrottled } from '../../shared/store/store.ts';
import { type TokenBucket, tokenBucket } from './token-bucket.ts';

/** DynamoDB saves up to 300 s for a partition that has not used its capacity; a busy one has none. */
const savedSeconds = 2;
const answerMs = { least: 5, more: 10 };

export type Capacity = {
  readonly clock: Clock;
  readonly random: Random;
  readonly unitsPerSecond: number;
};

export function limitedStore(store: Store, { clock, random, unitsPerSecond }: Capacity) {
  const fresh = () => tokenBucket({ unitsPerSecond, savedSeconds }, clock.monotonicMs);
  let bucket: TokenBucket | undefined;
  const counts = { written: 0, throttled: 0, unitsUsed: 0 };
  const limited: Store = {
    ...store,
    async write(operations, options) {
      if (bucket === undefined) return store.write(operations, options);
      await sleep(clock, answerMs.least + random.next() * answerMs.more);
      if (bucket.isEmpty()) {
        counts.throttled += 1;
        throw new StoreThrottled('no capacity left');
      }
      const cost = unitsOf(operations);
      bucket.take(cost);
      counts.written += 1;
      counts.unitsUsed += cost;
      return store.write(operations, options);
    },
  };
  return {
    store: limited,
    counts,
    /** From now on; before, the capacity is unlimited. */
    limit() {
      bucket = fresh();
    },
  };
}

const bytesPerUnit = 1_024;

/** A unit for each begun kilobyte of an item, twice as many within a transaction. */
function unitsOf(operations: readonly Operation[]): number {
  const units = operations.reduce((sum, operation) => sum + Math.ceil(bytesOf(operation) / bytesPerUnit), 0);
  return operations.length > 1 ? 2 * units : units;
}

const bytesOf = (operation: Operation): number =>
  JSON.stringify(operation.kind === 'put' ? operation.item : operation).length;
