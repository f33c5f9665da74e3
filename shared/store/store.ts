/**
 * The store port: one table of small JSON items under (pk, sk), with conditional writes and transactions.
 *
 * Contract, held by every adapter (test/contract/store.ts):
 * - `get` and `query` are strongly consistent unless `eventuallyConsistent` is set.
 * - `write` applies all its operations or none. A write of one operation is one conditional write; of several, one transaction.
 * - `token` names the write: sent again with the same token and the same operations it is applied once, and a repetition whose first
 *   answer was lost is told from another writer's change (the adapter compares the token it left on the item,
 *   `lastWrite`, which no caller sees). One limit: a single put or update whose answer was lost, and whose
 *   item somebody else has written since, is judged anew by its conditions alone. Then an `add` or an unconditional put may be done
 *   twice, and a late `notExists` put brings back what was deleted. Where that matters, write several operations (a check will do):
 *   a transaction is exact.
 * - A write that no store could do throws a plain Error: a bug. The rules are in operation.ts.
 * - Expected outcomes are values: see `WriteOutcome`. A store that cannot be reached or refuses service throws `StoreUnavailable`, and
 *   then nothing of the write was applied. When it refuses because the caller lacks a right, that is a `StoreDenied`: callers do not
 *   retry it and do not log it, since the adapter has logged it.
 */
import type { Json } from '../lib/json.ts';

export type Key = { readonly pk: string; readonly sk: string };

/** An item is its key and plain JSON attributes. `undefined` attributes are not stored. */
export type Item = Key & { readonly [attribute: string]: Json | undefined };

/** Named sub-conditions; several in a list all have to hold. An absent attribute differs from every value and is less than nothing. */
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
      /** Atomic additions; an absent attribute counts as 0. */
      readonly add?: { readonly [attribute: string]: number };
      readonly if?: readonly Condition[];
    }
  | { readonly kind: 'delete'; readonly key: Key; readonly if?: readonly Condition[] };

/** Why one operation of a refused write could not be done; `item` is what stands there instead (absent: nothing). */
export type Refusal =
  | { readonly index: number; readonly kind: 'condition'; readonly item?: Item }
  /** Another transaction touched the item at the same time: worth a retry with jitter. */
  | { readonly index: number; readonly kind: 'conflict' };

export type WriteOutcome =
  /** `item`: the new state of a single `update` operation. */
  | { readonly kind: 'written'; readonly item?: Item }
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] }
  /** The answer was lost and reading back could not tell: the write may be applied, now or later. */
  | { readonly kind: 'inDoubt' };

export type Query = {
  readonly pk: string;
  /** Inclusive bounds of the sort key. */
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
  /** Newest (highest sort key) first. */
  readonly descending?: boolean;
  readonly eventuallyConsistent?: boolean;
};

export interface Store {
  get(key: Key, options?: { readonly eventuallyConsistent?: boolean }): Promise<Item | undefined>;
  /** All items of the partition within the bounds, in sort-key order, up to `limit`; pages of the backend are followed. */
  query(query: Query): Promise<readonly Item[]>;
  /** 1 to `operationsMax` operations on distinct keys. */
  write(operations: readonly Operation[], options: { readonly token: string }): Promise<WriteOutcome>;
}

/** DynamoDB's limit for one transaction. */
export const operationsMax = 100;

/** The store cannot be reached, throttles, or refuses service; nothing of the request was applied. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
}

/** The caller may not do this. Asking again is pointless until its rights are mended. */
export class StoreDenied extends StoreUnavailable {
  override readonly name = 'StoreDenied';
}
