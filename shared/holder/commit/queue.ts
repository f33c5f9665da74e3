/**
 * The only queue through which the decisions of a holder become durable. It groups commits into transactions over
 * disjoint buckets, each fenced by the EPOCH of every bucket that it touches. If another writer has overtaken a commit,
 * only that commit is dropped. A lost fence ends the run. A throttled transaction has changed nothing: its commits wait
 * again, and the queue slows down, for as long as the run is in force.
 */

import { sleep, within } from '../../lib/clock.ts';
import {
  type Operation,
  type Refusal,
  StoreThrottled,
  StoreUnavailable,
  type WriteOutcome,
} from '../../store/store.ts';
import type { Run } from '../run.ts';
import { type Commit, type CommitPlan, planCommits } from './plan.ts';
import { type TransactionEnd, transactionPace } from './transaction-pace.ts';
import { transactionSize, WaitingCommits } from './waiting.ts';

/**
 * `superseded`: the item has changed or is gone, so the target has to be read again. `void`: the run has ended, and
 * nothing was written.
 */
export type CommitResult = 'committed' | 'superseded' | 'void';

/** The queue as the steps of a run use it. */
export type CommitQueue = Pick<TransactionQueue, 'submit' | 'drained' | 'end' | 'isScarce'>;

/**
 * Time for the commits of a run at its end, while the table has no capacity for them. The remaining ones are void; the
 * next run finds out again what they say.
 */
const lastCommitsMs = 10_000;
const conflictJitterMs = 100;
const conflictsMax = 20;

type Entry = { readonly commit: Commit; readonly settle: (result: CommitResult) => void };

export const commitQueue = (run: Run): CommitQueue => new TransactionQueue(run);

class TransactionQueue {
  readonly #run: Run;
  readonly #waiting = new WaitingCommits<Entry>();
  readonly #pace: ReturnType<typeof transactionPace>;
  #cancelTimer: (() => void) | undefined;
  #isGivenUp = false;
  #onIdle: (() => void)[] = [];

  constructor(run: Run) {
    this.#run = run;
    this.#pace = transactionPace(run.ports);
    run.signal.addEventListener('abort', () => this.#giveUp());
  }

  submit(commit: Commit): Promise<CommitResult> {
    if (this.#isGivenUp) return Promise.resolve('void');
    return new Promise((settle) => {
      this.#waiting.add({ commit, settle });
      this.#pump();
    });
  }

  /** Resolves when nothing is queued or under way. */
  async drained(): Promise<void> {
    if (!this.#isIdle()) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Of the run: writes what waits, as far as there is time, and begins nothing more. */
  async end(): Promise<void> {
    const { signal, ports } = this.#run;
    await within(ports.clock, this.drained(), lastCommitsMs, signal);
    this.#giveUp();
    await this.drained();
  }

  /** What waits is void, and so is what is submitted from now on. */
  #giveUp(): void {
    this.#isGivenUp = true;
    this.#cancelTimer?.();
    settleAll(this.#waiting.clear(), 'void');
    this.#rest();
  }

  /** Whether the table has had no capacity left a short time ago: only what has to be written should be. */
  isScarce(): boolean {
    return this.#pace.isScarce();
  }

  /** Begins as many transactions as are allowed now, and sets a timer for the next one. */
  #pump(): void {
    const { clock } = this.#run.ports;
    this.#cancelTimer?.();
    while (this.#pace.mayBegin()) {
      const inMs = this.#pace.inMs(this.#waiting.readyAtMs());
      if (inMs === Number.POSITIVE_INFINITY) return;
      if (inMs > 0) {
        this.#cancelTimer = clock.setTimer(inMs, () => this.#pump());
        return;
      }
      void this.#write(this.#waiting.take(clock.monotonicMs(), this.#pace.operations()));
    }
  }

  async #write(group: readonly Entry[]): Promise<void> {
    const { clock, log } = this.#run.ports;
    const end = this.#pace.begin(transactionSize(group));
    let over: TransactionEnd = 'over';
    try {
      const left = await writeGroup(this.#run, group);
      if (left.length > 0) over = 'throttled';
      if (this.#isGivenUp) settleAll(left, 'void');
      else this.#waiting.putBack(left);
    } catch (cause) {
      log.error('commit failed', { cause });
      this.#run.end({ kind: 'doubt', reason: 'a commit failed' });
      settleAll(group, 'void');
    }
    if (over === 'throttled' && !this.#pace.isScarce())
      log.warn('commits throttled', { shard: this.#run.message.shard, commits: group.length });
    end(over);
    this.#waiting.written(group, clock.monotonicMs());
    this.#pump();
    this.#rest();
  }

  #isIdle(): boolean {
    return this.#pace.isIdle() && this.#waiting.isEmpty();
  }

  #rest(): void {
    if (!this.#isIdle()) return;
    const resolved = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of resolved) resolve();
  }
}

/**
 * Writes a group, repeatedly if necessary, until each of its entries is settled. Returns those that are not, because
 * the store has no capacity for them now.
 */
async function writeGroup(run: Run, group: readonly Entry[]): Promise<readonly Entry[]> {
  let entries = group;
  for (let conflicts = 0; entries.length > 0; ) {
    if (!run.inForce()) return settleAll(entries, 'void');
    const plan = planCommits(
      run,
      entries.map(({ commit }) => commit),
    );
    const outcome = await writeFenced(run, plan.operations);
    if (outcome === 'throttled') return entries;
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
  return [];
}

/**
 * Settles the entries that a condition refused. A refused EPOCH ends the run, and the next round then settles all
 * entries.
 */
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

/** None of them is left. */
function settleAll(entries: readonly Entry[], result: CommitResult): readonly [] {
  for (const entry of entries) entry.settle(result);
  return [];
}

/** undefined: the run has ended, because the answer is in doubt or the store is unreachable. */
async function writeFenced(
  run: Run,
  operations: readonly Operation[],
): Promise<Exclude<WriteOutcome, { kind: 'inDoubt' }> | 'throttled' | undefined> {
  const { store: shared, fencedStore: store = shared, random } = run.ports;
  try {
    const outcome = await store.write(operations, { token: random.uuid() });
    if (outcome.kind !== 'inDoubt') return outcome;
    run.end({ kind: 'doubt', reason: 'a commit was left in doubt' });
  } catch (error) {
    if (error instanceof StoreThrottled) return 'throttled';
    if (!(error instanceof StoreUnavailable)) throw error;
    run.end({ kind: 'doubt', reason: `store unavailable: ${error.message}` });
  }
  return undefined;
}
