/**
 * What DynamoDB lets a table be used for, in units a second: the whole table (or a share of the account's quota) and
 * each partition. Buckets of tokens, which save what is not used for a few seconds. A call that finds one of its
 * buckets empty is throttled and takes nothing; one that finds tokens may take more than are left, as an item's size is
 * known only afterwards. Source: "Burst and adaptive capacity" and "Capacity unit consumption" of the DynamoDB
 * Developer Guide.
 */

import { operationKey } from '../../shared/store/operation.ts';
import { runKey } from '../../shared/store/records/keys.ts';
import type { Item, Operation } from '../../shared/store/store.ts';
import { type TokenBucket, tokenBucket } from '../support/token-bucket.ts';

export type UnitsPerSecond = { readonly reads: number; readonly writes: number };
export type TableCapacity = { readonly table: UnitsPerSecond; readonly partition: UnitsPerSecond };

/** Asked right before a call is executed; false: it is throttled. */
export type Admission = {
  admitsRead(pk: string, items: readonly (Item | undefined)[]): boolean;
  admitsWrite(operations: readonly Operation[]): boolean;
  /** Of all calls so far; `throttledOfRun`: those that are writes of RUN alone, as beats are. */
  readonly counts: { admitted: number; throttled: number; throttledOfRun: number };
};

export const unlimitedAdmission: Admission = {
  admitsRead: () => true,
  admitsWrite: () => true,
  counts: { admitted: 0, throttled: 0, throttledOfRun: 0 },
};

const runPrefix = runKey('').pk;
const savedSeconds = 5;
const readBytes = 4_096;
const writeBytes = 1_024;

export function admissionOf({ table, partition }: TableCapacity, nowMs: () => number): Admission {
  const reads = buckets(table.reads, partition.reads, nowMs);
  const writes = buckets(table.writes, partition.writes, nowMs);
  const counts = { admitted: 0, throttled: 0, throttledOfRun: 0 };
  const counted = (isAdmitted: boolean) => {
    counts[isAdmitted ? 'admitted' : 'throttled'] += 1;
    return isAdmitted;
  };
  return {
    counts,
    admitsRead(pk, items) {
      const bytes = items.reduce((sum, item) => sum + (item ? bytesOf(item) : 0), 0);
      return counted(reads.take(new Map([[pk, Math.max(1, Math.ceil(bytes / readBytes))]])));
    },
    admitsWrite(operations) {
      const units = new Map<string, number>();
      const each = operations.length > 1 ? 2 : 1;
      for (const operation of operations) {
        const { pk } = operationKey(operation);
        const bytes = bytesOf(operation.kind === 'put' ? operation.item : operation);
        units.set(pk, (units.get(pk) ?? 0) + each * Math.ceil(bytes / writeBytes));
      }
      const isAdmitted = counted(writes.take(units));
      if (!isAdmitted && [...units.keys()].every((pk) => pk.startsWith(runPrefix))) counts.throttledOfRun += 1;
      return isAdmitted;
    },
  };
}

const bytesOf = (value: object): number => JSON.stringify(value).length;

function buckets(ofTable: number, ofPartition: number, nowMs: () => number) {
  const table = tokenBucket({ unitsPerSecond: ofTable, savedSeconds }, nowMs);
  const partitions = new Map<string, TokenBucket>();
  const partitionOf = (pk: string) => {
    const known = partitions.get(pk) ?? tokenBucket({ unitsPerSecond: ofPartition, savedSeconds }, nowMs);
    partitions.set(pk, known);
    return known;
  };
  return {
    take(units: ReadonlyMap<string, number>): boolean {
      const own = [...units].map(([pk, count]) => ({ partition: partitionOf(pk), count }));
      if (table.isEmpty() || own.some(({ partition }) => partition.isEmpty())) return false;
      for (const { partition, count } of own) {
        partition.take(count);
        table.take(count);
      }
      return true;
    },
  };
}
