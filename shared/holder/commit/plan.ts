/**
 * Turns commits into the operations of one transaction: first the fence of each bucket, then the changes of each
 * commit, on condition that its item is as it was read.
 */
import type { EventRecord, ProbeRecord } from '../../core/spec/records.ts';
import { probeName } from '../../core/spec/spec.ts';
import {
  encodeEpoch,
  encodeEvent,
  encodeLatest,
  encodeProbe,
  stoppedAttribute,
  updateTo,
} from '../../store/records/items.ts';
import { type Bucket, epochKey, type TargetAddress } from '../../store/records/keys.ts';
import type { Condition, Operation } from '../../store/store.ts';
import type { Run } from '../run.ts';

/** A change of one PROBE item together with its events, or events alone. */
export type Commit = {
  readonly address: TargetAddress;
  /** The item as it was last committed. The write is refused if the item no longer has this uid. */
  readonly before: ProbeRecord;
  /** undefined: nothing of it changes. */
  readonly after: ProbeRecord | undefined;
  /** What the event history gets. */
  readonly events: readonly EventRecord[];
  /**
   * The transition, which is also kept under the probe's own key. The event history expires and is bounded; this copy
   * keeps the attempts behind a result for as long as it is shown.
   */
  readonly latest: EventRecord | undefined;
};

export type CommitPlan = {
  readonly operations: readonly Operation[];
  /** For each operation the index of its commit; `epoch`: the operation is a fence. */
  readonly owners: readonly (number | 'epoch')[];
};

export function planCommits(run: Run, commits: readonly Commit[]): CommitPlan {
  const buckets = [...new Set(commits.map(({ address }) => address.bucket))];
  const written = commits.map(commitOperations);
  return {
    operations: [...buckets.map((bucket) => epochCheck(run, bucket)), ...written.flat()],
    owners: [...buckets.map(() => 'epoch' as const), ...written.flatMap((own, index) => own.map(() => index))],
  };
}

/**
 * The fence: the operation that is part of every transaction in which a run writes to this bucket. It makes each write
 * of the run fail once a higher token has been set. A run that claims on write sets its own token with it; a check
 * would cost as many units.
 */
export function epochCheck({ token, claimsOnWrite, message, ports }: Run, bucket: Bucket): Operation {
  const own: Condition = { kind: 'equals', attribute: 'token', value: token };
  if (!claimsOnWrite) return { kind: 'check', key: epochKey(bucket), if: [own] };
  const lower: Condition = { kind: 'lessThan', attribute: 'token', value: token };
  const epoch = encodeEpoch(bucket, { token, shard: message.shard, claimedAtMs: ports.clock.nowMs() });
  return { ...updateTo(epoch), if: [{ kind: 'anyOf', conditions: [own, lower] }] };
}

/** Number of operations of a commit, without the fence of its bucket. */
export const operationsOf = ({ events, latest }: Commit): number => 1 + events.length + (latest ? 1 : 0);

function commitOperations(commit: Commit): readonly Operation[] {
  const { address, before, events, latest } = commit;
  const items = events.map((event) => encodeEvent(address, event));
  if (latest) items.push(encodeLatest(address, probeName(before.container, before.probeType), latest));
  return [probeOperation(commit), ...items.map((item): Operation => ({ kind: 'put', item }))];
}

/** An update, never a put: a purged item must not reappear. */
function probeOperation({ address, before, after }: Commit): Operation {
  const fence = after?.ended ? [] : [notStopped];
  if (after) return { ...updateTo(encodeProbe(address, after)), if: [...unchangedSince(before, after), ...fence] };
  const { pk, sk } = encodeProbe(address, before);
  return { kind: 'check', key: { pk, sk }, if: [...sameVersion(before), ...fence] };
}

/**
 * The target has not been deleted, as far as this probe is concerned: a liveness or startup verdict of a holder that
 * has not noticed the deletion yet is refused, and the holder reads the target again. TARGET itself is no part of the
 * transaction, since a check costs as many units as a write.
 */
const notStopped: Condition = { kind: 'absent', attribute: stoppedAttribute };

/** Condition on a PROBE item: it has this uid, and no other commit has changed it meanwhile. */
export const sameVersion = ({ uid, version }: ProbeRecord): readonly Condition[] => [
  { kind: 'equals', attribute: 'uid', value: uid },
  { kind: 'equals', attribute: 'version', value: version },
];

/** Like `sameVersion`. If the commit changes the verdict, the stored one must also differ from the new one. */
export function unchangedSince(before: ProbeRecord, after: ProbeRecord): readonly Condition[] {
  const same = sameVersion(before);
  const isVerdict = after.result !== before.result || after.containerID !== before.containerID;
  if (after.version === before.version || after.result === undefined || !isVerdict) return same;
  // As in kubelet's Set, an update is emitted only if the write changes something.
  const differs: Condition = {
    kind: 'anyOf',
    conditions: [
      { kind: 'notEquals', attribute: 'result', value: after.result },
      { kind: 'notEquals', attribute: 'containerID', value: after.containerID },
    ],
  };
  return [...same, differs];
}

// Commits that wait for their transaction, by bucket. While a transaction is under way, the next one leaves out its
// buckets. So no two transactions contend for a fence, and the commits of a probe are written in order.

/**
 * DynamoDB accepts 1,000 write units a second in a partition, and a bucket is one. An operation of a transaction costs
 * two units for each kilobyte. At 4 ms each, the commits of a bucket use half of the units while their items are
 * smaller than a kilobyte, which leaves the other half to status-sync. They use all of the units while their items are
 * smaller than two kilobytes.
 */
const operationMs = 4;

/** What waits is more than the commit: who waits for its result. */
type HasCommit = { readonly commit: Commit };

export class WaitingCommits<Entry extends HasCommit> {
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

const byBucket = <Entry extends HasCommit>(entries: readonly Entry[]): ReadonlyMap<Bucket, readonly Entry[]> =>
  Map.groupBy(entries, ({ commit }) => commit.address.bucket);

/** Of the transaction that writes all of these. */
export const transactionSize = (entries: readonly HasCommit[]): number =>
  sizeOf(entries) + byBucket(entries).size * fenceOperations;

/** The first commits of a bucket that fit into this many operations. */
function fitting<Entry extends HasCommit>(entries: readonly Entry[], operations: number): readonly Entry[] {
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

const sizeOf = (entries: readonly HasCommit[]): number =>
  entries.reduce((sum, { commit }) => sum + operationsOf(commit), 0);

/** While a target is read again, its old and its new worker may each have a commit for the same probe. */
const probeOf = ({ address, before }: Commit): string =>
  `${address.prefix}#${probeName(before.container, before.probeType)}`;
