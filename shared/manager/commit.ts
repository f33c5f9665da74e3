/**
 * The one queue through which everything a holder decides becomes durable: grouped into transactions, at most four a second, each
 * fenced by the EPOCH of every bucket it touches. A commit that somebody else has overtaken is dropped alone; a lost fence ends the run.
 */
import type { EventRecord, ProbeRecord } from '../core/records.ts';
import { sleep } from '../lib/clock.ts';
import { encodeEvent, encodeProbe, updateTo } from '../store/items.ts';
import type { Bucket, TargetAddress } from '../store/keys.ts';
import { epochKey } from '../store/keys.ts';
import type { Condition, Operation, Refusal, WriteOutcome } from '../store/store.ts';
import { operationsMax, StoreUnavailable } from '../store/store.ts';
import type { Run } from './run.ts';

/** A change of one PROBE item and the events that go with it, or events alone. */
export type Commit = {
  readonly address: TargetAddress;
  /** The item as it was last committed: nothing is written for a uid that is gone. */
  readonly before: ProbeRecord;
  /** Absent: events alone. */
  readonly after?: ProbeRecord;
  readonly events: readonly EventRecord[];
};

/** `superseded`: the item is no longer what it was, or gone: read it again. `void`: the run has ended, nothing was written. */
export type CommitResult = 'committed' | 'superseded' | 'void';

export type CommitQueue = {
  submit(commit: Commit): Promise<CommitResult>;
  /** Resolves when nothing is queued or under way. */
  drained(): Promise<void>;
};

/** Four transactions a second: what one holder may cost at most, however much changes. */
const writeIntervalMs = 250;
const conflictJitterMs = 100;
const conflictsMax = 20;

type Entry = { readonly commit: Commit; readonly settle: (result: CommitResult) => void };

export function commitQueue(run: Run): CommitQueue {
  const { clock } = run.ports;
  let waiting: Entry[] = [];
  let pumping: Promise<void> | undefined;
  let lastWriteAt = Number.NEGATIVE_INFINITY;

  async function pump(): Promise<void> {
    while (waiting.length > 0) {
      const pauseMs = lastWriteAt + writeIntervalMs - clock.monotonicMs();
      if (pauseMs > 0) await sleep(clock, pauseMs, run.signal);
      lastWriteAt = clock.monotonicMs();
      const group = takeGroup();
      try {
        await writeGroup(run, group);
      } catch (cause) {
        run.ports.log.error('commit failed', { cause });
        run.end({ kind: 'doubt', reason: 'a commit failed' });
        settleAll(group, 'void');
      }
    }
  }

  function takeGroup(): readonly Entry[] {
    const buckets = new Set<Bucket>();
    let operations = 0;
    let count = 0;
    for (const { commit } of waiting) {
      const fence = buckets.has(commit.address.bucket) ? 0 : 1;
      const size = fence + 1 + commit.events.length;
      if (count > 0 && operations + size > operationsMax) break;
      buckets.add(commit.address.bucket);
      operations += size;
      count += 1;
    }
    const group = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return group;
  }

  return {
    submit(commit) {
      if (run.ended()) return Promise.resolve('void');
      return new Promise((settle) => {
        waiting.push({ commit, settle });
        pumping ??= pump().finally(() => {
          pumping = undefined;
        });
      });
    },
    drained: () => pumping ?? Promise.resolve(),
  };
}

/** Writes a group until each of its entries is settled. */
async function writeGroup(run: Run, group: readonly Entry[]): Promise<void> {
  let entries = group;
  for (let conflicts = 0; entries.length > 0; ) {
    if (!run.inForce()) return settleAll(entries, 'void');
    const plan = planGroup(run, entries);
    const outcome = await writeFenced(run, plan.operations);
    if (!outcome) return settleAll(entries, 'void');
    if (outcome.kind === 'written') return settleAll(entries, 'committed');
    const lost = settleRefused(run, plan, outcome.refusals);
    entries = entries.filter((entry) => !lost.has(entry));
    if (lost.size === 0) {
      conflicts += 1;
      if (conflicts > conflictsMax) run.end({ kind: 'doubt', reason: 'transaction conflicts do not end' });
      await sleep(run.ports.clock, conflictJitterMs * (0.5 + run.ports.random.next()), run.signal);
    }
  }
}

/** undefined: the run has ended, because the answer is in doubt or the store out of reach. */
async function writeFenced(
  run: Run,
  operations: readonly Operation[],
): Promise<Exclude<WriteOutcome, { kind: 'inDoubt' }> | undefined> {
  try {
    const outcome = await run.ports.store.write(operations, { token: run.ports.random.uuid() });
    if (outcome.kind !== 'inDoubt') return outcome;
    run.end({ kind: 'doubt', reason: 'a commit was left in doubt' });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    run.end({ kind: 'doubt', reason: `store unavailable: ${error.message}` });
  }
  return undefined;
}

type GroupPlan = { readonly operations: readonly Operation[]; readonly owners: readonly (Entry | 'epoch')[] };

function planGroup(run: Run, entries: readonly Entry[]): GroupPlan {
  const operations: Operation[] = [];
  const owners: (Entry | 'epoch')[] = [];
  for (const bucket of new Set(entries.map((entry) => entry.commit.address.bucket))) {
    operations.push({
      kind: 'check',
      key: epochKey(bucket),
      if: [{ kind: 'equals', attribute: 'token', value: run.token }],
    });
    owners.push('epoch');
  }
  for (const entry of entries) {
    for (const operation of entryOperations(entry.commit)) {
      operations.push(operation);
      owners.push(entry);
    }
  }
  return { operations, owners };
}

function entryOperations({ address, before, after, events }: Commit): readonly Operation[] {
  const puts = events.map((event): Operation => ({ kind: 'put', item: encodeEvent(address, event) }));
  return [probeOperation(address, before, after), ...puts];
}

/** An update, never a put: a purged item must not come back. */
function probeOperation(address: TargetAddress, before: ProbeRecord, after: ProbeRecord | undefined): Operation {
  if (after) return { ...updateTo(encodeProbe(address, after)), if: unchangedSince(before, after) };
  const { pk, sk } = encodeProbe(address, before);
  return { kind: 'check', key: { pk, sk }, if: sameVersion(before) };
}

const sameVersion = ({ uid, version }: ProbeRecord): readonly Condition[] => [
  { kind: 'equals', attribute: 'uid', value: uid },
  { kind: 'equals', attribute: 'version', value: version },
];

function unchangedSince(before: ProbeRecord, after: ProbeRecord): readonly Condition[] {
  const same = sameVersion(before);
  if (after.version === before.version || after.result === undefined) return same;
  // kubelet's Set: an update is emitted only if the write changes something.
  const differs: Condition = {
    kind: 'anyOf',
    conditions: [
      { kind: 'notEquals', attribute: 'result', value: after.result },
      { kind: 'notEquals', attribute: 'containerID', value: after.containerID },
    ],
  };
  return [...same, differs];
}

/** Settles what a condition refused; a refused EPOCH ends the run, and then every entry is settled by the next round. */
function settleRefused(run: Run, plan: GroupPlan, refusals: readonly Refusal[]): ReadonlySet<Entry> {
  const lost = new Set<Entry>();
  for (const refusal of refusals) {
    if (refusal.kind === 'conflict') continue;
    const owner = plan.owners[refusal.index];
    if (owner === 'epoch') run.end({ kind: 'fenced' });
    else if (owner) lost.add(owner);
  }
  if (run.ended()) return new Set();
  settleAll([...lost], 'superseded');
  return lost;
}

function settleAll(entries: readonly Entry[], result: CommitResult): void {
  for (const entry of entries) entry.settle(result);
}
