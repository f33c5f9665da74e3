/** What each call to DynamoDB has cost, for a caller that wants to know it. */
import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import { itemBytes } from '../item-size.ts';
import type { Operation } from '../store.ts';
import type { Failure } from './failure.ts';
import { unmarshalled } from './value.ts';

/** One call to the table, for cost figures. */
export type StoreCall = {
  readonly operation: 'get' | 'query' | 'put' | 'update' | 'transaction';
  readonly readUnits: number;
  readonly writeUnits: number;
};

export type CallReport = { readonly onCall?: (call: StoreCall) => void };

/** The part of a request that asks for the units. */
export const capacityOf = ({ onCall }: CallReport) => (onCall ? { ReturnConsumedCapacity: 'TOTAL' as const } : {});

type Operated = StoreCall['operation'];

export function counted(
  { onCall }: CallReport,
  operation: Operated,
  consumed: readonly (ConsumedCapacity | undefined)[],
): void {
  if (!onCall) return;
  const units = consumed.reduce((sum, one) => sum + (one?.CapacityUnits ?? 0), 0);
  const reads = operation === 'get' || operation === 'query';
  onCall({ operation, readUnits: reads ? units : 0, writeUnits: reads ? 0 : units });
}

type Refused = { readonly operation: Operated; readonly failure: Failure & { readonly kind: 'refused' } };

/** DynamoDB bills a refused write without reporting the units. Estimates them from the items in the answer. */
export function countedRefusal(
  { onCall }: CallReport,
  operations: readonly Operation[],
  { operation, failure }: Refused,
): void {
  if (!onCall) return;
  const bytes = new Map(
    failure.refusals.map((one) => [
      one.index,
      one.kind === 'condition' && one.item ? itemBytes(unmarshalled(one.item)) : 0,
    ]),
  );
  const units = operations.map((_, index) => writeUnits(bytes.get(index) ?? 0, operation === 'transaction'));
  onCall({ operation, readUnits: 0, writeUnits: units.reduce((sum, one) => sum + one, 0) });
}

const writeUnitBytes = 1024;

/** A write counts the larger of the old and the new item. A failed condition costs the same. */
export function writeUnits(bytes: number, transactional: boolean): number {
  return Math.max(1, Math.ceil(bytes / writeUnitBytes)) * (transactional ? 2 : 1);
}
