/**
 * The store port: one table of small JSON items under (pk, sk), with conditional writes and transactions.
 *
 * Contract of every adapter (test/contract/store.ts):
 * - `get` and `query` are strongly consistent unless `eventuallyConsistent` is set.
 * - `write` applies all its operations or none. One operation is a conditional write, several are a transaction.
 * - `token` identifies the write. Sent again with the same token and operations, it is applied once, and a repetition
 *   after a lost answer is distinguished from another writer's change (the adapter stores the token on the item as
 *   `lastWrite`, hidden from callers). There is one limit: if the answer to a single put or update was lost and another
 *   writer has since changed the item, the repetition is judged by its conditions alone. Then an `add` or an
 *   unconditional put may be applied twice, and a late `notExists` put may restore a deleted item. Where that matters,
 *   use several operations (a check suffices), because a transaction is exact.
 * - A write that no store can execute throws a plain Error, which is a bug. The rules are in operation.ts.
 * - Expected outcomes are values: see `WriteOutcome`. A store that cannot be reached or refuses service throws
 *   `StoreUnavailable`, and nothing was applied. If the caller lacks a permission, the error is a `StoreDenied`:
 *   callers neither retry nor log it, because the adapter has logged it. If the table has no capacity left, it is a
 *   `StoreThrottled`: the adapter does not repeat the call, the caller does, at a pace of its own (throttled.ts).
 */
import type { Json } from '../lib/json.ts';

export type Key = { readonly pk: string; readonly sk: string };

/** An item consists of its key and plain JSON attributes. `undefined` attributes are not stored. */
export type Item = Key & { readonly [attribute: string]: Json | undefined };

/**
 * Named conditions; in a list, all must hold. An absent attribute differs from every value and is not less than any.
 */
export type Condition =
  | { readonly kind: 'exists' }
  | { readonly kind: 'notExists' }
  | { readonly kind: 'equals'; readonly attribute: string; readonly value: string | number | boolean }
  | { readonly kind: 'notEquals'; readonly attribute: string; readonly value: string | number | boolean }
  | { readonly kind: 'lessThan'; readonly attribute: string; readonly value: number }
  | { readonly kind: 'absent'; readonly attribute: string }
  | { readonly kind: 'anyOf'; readonly conditions: readonly Condition[] };

export type Operation =
  | { readonly kind: 'check'; readonly key: Key; readonly if: readonly Condition[] }
  | { readonly kind: 'put'; readonly item: Item; readonly if?: readonly Condition[] }
  | {
      readonly kind: 'update';
      readonly key: Key;
      readonly set?: { readonly [attribute: string]: Json | undefined };
      readonly remove?: readonly string[];
      /** Atomic additions. An absent attribute counts as 0. */
      readonly add?: { readonly [attribute: string]: number };
      readonly if?: readonly Condition[];
    }
  | { readonly kind: 'delete'; readonly key: Key; readonly if?: readonly Condition[] };

/** Why one operation of a write was refused. `item` is the stored item; absent if there is none. */
export type Refusal =
  | { readonly index: number; readonly kind: 'condition'; readonly item?: Item }
  /** Another transaction was using the item. Retry with jitter. */
  | { readonly index: number; readonly kind: 'conflict' };

export type WriteOutcome =
  /** `item` is the new state after a single `update` operation. */
  | { readonly kind: 'written'; readonly item?: Item }
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] }
  /** The answer was lost and reading back was inconclusive: the write may be applied, now or later. */
  | { readonly kind: 'inDoubt' };

export type Query = {
  readonly pk: string;
  /** Inclusive bounds of the sort key. */
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
  /** Highest sort key (newest) first. */
  readonly descending?: boolean;
  readonly eventuallyConsistent?: boolean;
};

export interface Store {
  get(key: Key, options?: { readonly eventuallyConsistent?: boolean }): Promise<Item | undefined>;
  /** Returns the partition's items within the bounds, in sort-key order, up to `limit`. Follows the backend's pages. */
  query(query: Query): Promise<readonly Item[]>;
  /** Takes 1 to `operationsMax` operations on distinct keys. */
  write(operations: readonly Operation[], options: { readonly token: string }): Promise<WriteOutcome>;
}

/** DynamoDB's limit for one transaction. */
export const operationsMax = 100;

/** The store cannot be reached, throttles, or refuses service. Nothing of the request was applied. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
}

/** The table has no capacity left for this call now. It can be repeated as it is, after a pause. */
export class StoreThrottled extends StoreUnavailable {
  override readonly name = 'StoreThrottled';
}

/** The caller lacks a permission. A retry is useless until the permission is granted. */
export class StoreDenied extends StoreUnavailable {
  override readonly name = 'StoreDenied';
}
