/**
 * Commits that wait for their transaction, by bucket. While a transaction is under way, the next one leaves out its
 * buckets. So no two transactions contend for a fence, and the commits of a probe are written in order.
 */
import { probeName } from '../../core/spec/spec.ts';
import type { Bucket } from '../../store/records/keys.ts';
import { type Commit, operationsOf } from './plan.ts';

/**
 * DynamoDB accepts 1,000 write units a second in a partition, and a bucket is one. An operation of a transaction costs
 * two units for each kilobyte. At 4 ms each, the commits of a bucket use half of the units while their items are
 * smaller than a kilobyte, which leaves the other half to status-sync. They use all of the units while their items are
 * smaller than two kilobytes.
 */
const operationMs = 4;

type Committing = { readonly commit: Commit };

export class WaitingCommits<Entry extends Committing> {
  /** The bucket that has waited longest comes first. */
  readonly #waiting = new Map<Bucket, readonly Entry[]>();
  /** When a bucket may be written again; Infinity while it is being written. */
  readonly #freeAtMs = new Map<Bucket, number>();

  add(entry: Entry): void {
    const { bucket } = entry.commit.address;
    this.#waiting.set(bucket, [...(this.#waiting.get(bucket) ?? []), entry]);
  }

  /** When the buckets allow the next transaction, monotonic. Infinity: not before one that is under way is written. */
  readyAtMs(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#waiting.keys()].map((bucket) => this.#freeAt(bucket)));
  }

  /** Removes and returns the commits of the next transaction: of so many operations, or the first one alone. */
  take(nowMs: number, operations: number): readonly Entry[] {
    const group: Entry[] = [];
    let left = operations;
    for (const [bucket, entries] of [...this.#waiting]) {
      if (this.#freeAt(bucket) > nowMs) continue;
      const fits = fitting(entries, left - fenceOperations);
      const taken = fits.length === 0 && group.length === 0 ? entries.slice(0, 1) : fits;
      if (taken.length === 0) break;
      group.push(...taken);
      left -= fenceOperations + sizeOf(taken);
      this.#freeAtMs.set(bucket, Number.POSITIVE_INFINITY);
      this.#waiting.delete(bucket);
      if (taken.length < entries.length) this.#waiting.set(bucket, entries.slice(taken.length));
    }
    return group;
  }

  /** The transaction is no longer under way. */
  written(group: readonly Entry[], nowMs: number): void {
    for (const [bucket, entries] of byBucket(group))
      this.#freeAtMs.set(bucket, nowMs + (fenceOperations + entries.length) * operationMs);
  }

  /** The transaction was not executed: its commits come first again, each before those of its probe that came since. */
  putBack(group: readonly Entry[]): void {
    const rest = [...this.#waiting];
    this.#waiting.clear();
    for (const [bucket, entries] of byBucket(group)) this.#waiting.set(bucket, entries);
    for (const [bucket, entries] of rest) this.#waiting.set(bucket, [...(this.#waiting.get(bucket) ?? []), ...entries]);
  }

  isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Removes and returns all waiting commits. */
  clear(): readonly Entry[] {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    return all;
  }

  #freeAt(bucket: Bucket): number {
    return this.#freeAtMs.get(bucket) ?? Number.NEGATIVE_INFINITY;
  }
}

const fenceOperations = 1;

const byBucket = <Entry extends Committing>(entries: readonly Entry[]): ReadonlyMap<Bucket, readonly Entry[]> =>
  Map.groupBy(entries, ({ commit }) => commit.address.bucket);

/** Of the transaction that writes all of these. */
export const transactionSize = (entries: readonly Committing[]): number =>
  sizeOf(entries) + byBucket(entries).size * fenceOperations;

/** The first commits of a bucket that fit into this many operations. */
function fitting<Entry extends Committing>(entries: readonly Entry[], operations: number): readonly Entry[] {
  const probes = new Set<string>();
  let left = operations;
  let count = 0;
  for (const { commit } of entries) {
    const probe = probeOf(commit);
    left -= operationsOf(commit);
    // A transaction may touch an item only once. The next transaction decides whether a second commit of the probe is
    // still valid.
    if (left < 0 || probes.has(probe)) break;
    probes.add(probe);
    count += 1;
  }
  return entries.slice(0, count);
}

const sizeOf = (entries: readonly Committing[]): number =>
  entries.reduce((sum, { commit }) => sum + operationsOf(commit), 0);

/** While a target is read again, its old and its new worker may each have a commit for the same probe. */
const probeOf = ({ address, before }: Commit): string =>
  `${address.prefix}#${probeName(before.container, before.probeType)}`;
