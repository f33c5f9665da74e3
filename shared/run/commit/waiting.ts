/**
 * Commits that wait for their transaction, by bucket. While a transaction is under way its buckets are left out of the next one, so that
 * no two meet in a fence, and the commits of a probe are written in their order.
 */
import { probeName } from '../../core/spec.ts';
import type { Bucket } from '../../store/keys.ts';
import { operationsMax } from '../../store/store.ts';
import { type Commit, operationsOf } from './plan.ts';

/**
 * DynamoDB takes 1,000 write units a second in a partition, which a bucket is, and an operation of a transaction costs two for each
 * kilobyte. At 4 ms each, the commits of a bucket use half of that while their items are below a kilobyte, which leaves as much to
 * status-sync, and all of it below two.
 */
const operationMs = 4;

export type WaitingCommits<Entry> = {
  add(entry: Entry): void;
  /** When the next transaction may be taken, as far as buckets go; monotonic. Infinity: not before one that is under way is written. */
  readyAtMs(): number;
  /** The next transaction. */
  take(nowMs: number): readonly Entry[];
  /** The transaction is no longer under way. */
  written(group: readonly Entry[], nowMs: number): void;
  isEmpty(): boolean;
  /** What waits, which then waits no more. */
  clear(): readonly Entry[];
};

type Committing = { readonly commit: Commit };

export function waitingCommits<Entry extends Committing>(): WaitingCommits<Entry> {
  /** The bucket that has waited for the longest comes first. */
  const waiting = new Map<Bucket, readonly Entry[]>();
  /** When a bucket may be written again; Infinity while it is being written. */
  const freeAtMs = new Map<Bucket, number>();
  const freeAt = (bucket: Bucket): number => freeAtMs.get(bucket) ?? Number.NEGATIVE_INFINITY;

  return {
    add(entry) {
      const { bucket } = entry.commit.address;
      waiting.set(bucket, [...(waiting.get(bucket) ?? []), entry]);
    },
    readyAtMs: () => Math.min(Number.POSITIVE_INFINITY, ...[...waiting.keys()].map(freeAt)),
    take(nowMs) {
      const group: Entry[] = [];
      let left = operationsMax;
      for (const [bucket, entries] of [...waiting]) {
        if (freeAt(bucket) > nowMs) continue;
        const taken = fitting(entries, left - fenceOperations);
        if (taken.length === 0) break;
        group.push(...taken);
        left -= fenceOperations + sizeOf(taken);
        freeAtMs.set(bucket, Number.POSITIVE_INFINITY);
        waiting.delete(bucket);
        if (taken.length < entries.length) waiting.set(bucket, entries.slice(taken.length));
      }
      return group;
    },
    written(group, nowMs) {
      const operations = new Map<Bucket, number>();
      for (const { commit } of group) {
        const { bucket } = commit.address;
        operations.set(bucket, (operations.get(bucket) ?? fenceOperations) + 1);
      }
      for (const [bucket, count] of operations) freeAtMs.set(bucket, nowMs + count * operationMs);
    },
    isEmpty: () => waiting.size === 0,
    clear() {
      const all = [...waiting.values()].flat();
      waiting.clear();
      return all;
    },
  };
}

const fenceOperations = 1;

/** The first of a bucket that have room together. */
function fitting<Entry extends Committing>(entries: readonly Entry[], operations: number): readonly Entry[] {
  const probes = new Set<string>();
  let left = operations;
  let count = 0;
  for (const { commit } of entries) {
    const probe = probeOf(commit);
    left -= operationsOf(commit);
    // A transaction touches each item once: the next one decides whether a second commit of the probe still holds.
    if (left < 0 || probes.has(probe)) break;
    probes.add(probe);
    count += 1;
  }
  return entries.slice(0, count);
}

const sizeOf = (entries: readonly Committing[]): number =>
  entries.reduce((sum, { commit }) => sum + operationsOf(commit), 0);

/** While a target is read again, the worker before and the one after may both have something to commit of one probe. */
const probeOf = ({ address, before }: Commit): string =>
  `${address.prefix}#${probeName(before.container, before.probeType)}`;
