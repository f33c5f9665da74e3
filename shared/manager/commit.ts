/**
 * The one queue through which everything a holder decides becomes durable: grouped into transactions, at most four a second, each
 * fenced by the EPOCH of every bucket it touches. A commit that somebody else has overtaken is dropped alone; a lost fence ends the run.
 */
import { probeName } from '../core/spec.ts';
import { sleep } from '../lib/clock.ts';
import type { Bucket } from '../store/keys.ts';
import { operationsMax, type Refusal } from '../store/store.ts';
import { type Commit, type CommitPlan, planCommits } from './commit-plan.ts';
import { writeFenced } from './fenced-write.ts';
import type { Run } from './run.ts';

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
    // At once, not in a later microtask: what is submitted in between would find a pump that looks no more.
    pumping = undefined;
  }

  function takeGroup(): readonly Entry[] {
    const buckets = new Set<Bucket>();
    const probes = new Set<string>();
    let operations = 0;
    let count = 0;
    for (const { commit } of waiting) {
      const probe = probeOf(commit);
      const fence = buckets.has(commit.address.bucket) ? 0 : 1;
      const size = fence + 1 + commit.events.length;
      if (count > 0 && operations + size > operationsMax) break;
      // A transaction touches each item once: the next one decides whether this still holds.
      if (probes.has(probe)) break;
      probes.add(probe);
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
        pumping ??= pump();
      });
    },
    async drained() {
      while (pumping !== undefined) await pumping;
    },
  };
}

/** While a target is read anew, the worker before and the one after may both have something to commit of one probe. */
const probeOf = ({ address, before }: Commit): string =>
  `${address.prefix}#${probeName(before.container, before.probeType)}`;

/** Writes a group until each of its entries is settled. */
async function writeGroup(run: Run, group: readonly Entry[]): Promise<void> {
  let entries = group;
  for (let conflicts = 0; entries.length > 0; ) {
    if (!run.inForce()) return settleAll(entries, 'void');
    const plan = planCommits(
      run,
      entries.map(({ commit }) => commit),
    );
    const outcome = await writeFenced(run, plan.operations);
    if (!outcome) return settleAll(entries, 'void');
    if (outcome.kind === 'written') return settleAll(entries, 'committed');
    const lost = settleRefused(run, { entries, plan }, outcome.refusals);
    entries = entries.filter((entry) => !lost.has(entry));
    if (lost.size === 0) {
      conflicts += 1;
      if (conflicts > conflictsMax) run.end({ kind: 'doubt', reason: 'transaction conflicts do not end' });
      await sleep(run.ports.clock, conflictJitterMs * (0.5 + run.ports.random.next()), run.signal);
    }
  }
}

/** Settles what a condition refused; a refused EPOCH ends the run, and then every entry is settled by the next round. */
function settleRefused(
  run: Run,
  { entries, plan }: { readonly entries: readonly Entry[]; readonly plan: CommitPlan },
  refusals: readonly Refusal[],
): ReadonlySet<Entry> {
  const lost = new Set<Entry>();
  for (const refusal of refusals) {
    if (refusal.kind === 'conflict') continue;
    const owner = plan.owners[refusal.index];
    if (owner === 'epoch') run.end({ kind: 'fenced' });
    const entry = typeof owner === 'number' ? entries[owner] : undefined;
    if (entry) lost.add(entry);
  }
  if (run.ended()) return new Set();
  settleAll([...lost], 'superseded');
  return lost;
}

function settleAll(entries: readonly Entry[], result: CommitResult): void {
  for (const entry of entries) entry.settle(result);
}
