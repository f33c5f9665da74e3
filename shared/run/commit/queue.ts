/**
 * The only queue through which the decisions of a holder become durable. It groups commits into transactions over
 * disjoint buckets, each fenced by the EPOCH of every bucket that it touches. If another writer has overtaken a commit,
 * only that commit is dropped. A lost fence ends the run.
 */

import { sleep } from '../../lib/clock.ts';
import { type Operation, type Refusal, StoreUnavailable, type WriteOutcome } from '../../store/store.ts';
import { fencedPorts } from '../ports.ts';
import type { Run } from '../run.ts';
import { type Commit, type CommitPlan, planCommits } from './plan.ts';
import { transactionPace } from './transaction-pace.ts';
import { WaitingCommits } from './waiting.ts';

/**
 * `superseded`: the item has changed or is gone, so the target has to be read again. `void`: the run has ended, and
 * nothing was written.
 */
export type CommitResult = 'committed' | 'superseded' | 'void';

/** The queue as the steps of a run use it. */
export type CommitQueue = Pick<TransactionQueue, 'submit' | 'drained'>;

const conflictJitterMs = 100;
const conflictsMax = 20;

type Entry = { readonly commit: Commit; readonly settle: (result: CommitResult) => void };

export const commitQueue = (run: Run): CommitQueue => new TransactionQueue(run);

class TransactionQueue {
  readonly #run: Run;
  readonly #waiting = new WaitingCommits<Entry>();
  readonly #pace: ReturnType<typeof transactionPace>;
  #cancelTimer: (() => void) | undefined;
  #onIdle: (() => void)[] = [];

  constructor(run: Run) {
    this.#run = run;
    this.#pace = transactionPace(run.ports.clock);
    run.signal.addEventListener('abort', () => {
      this.#cancelTimer?.();
      settleAll(this.#waiting.clear(), 'void');
      this.#rest();
    });
  }

  submit(commit: Commit): Promise<CommitResult> {
    if (this.#run.ended()) return Promise.resolve('void');
    return new Promise((settle) => {
      this.#waiting.add({ commit, settle });
      this.#pump();
    });
  }

  /** Resolves when nothing is queued or under way. */
  async drained(): Promise<void> {
    if (!this.#isIdle()) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
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
      void this.#write(this.#waiting.take(clock.monotonicMs()));
    }
  }

  async #write(group: readonly Entry[]): Promise<void> {
    const { clock, log } = this.#run.ports;
    const end = this.#pace.begin();
    try {
      await writeGroup(this.#run, group);
    } catch (cause) {
      log.error('commit failed', { cause });
      this.#run.end({ kind: 'doubt', reason: 'a commit failed' });
      settleAll(group, 'void');
    }
    end();
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

/** Writes a group, repeatedly if necessary, until each of its entries is settled. */
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

function settleAll(entries: readonly Entry[], result: CommitResult): void {
  for (const entry of entries) entry.settle(result);
}

/** undefined: the run has ended, because the answer is in doubt or the store is unreachable. */
async function writeFenced(
  run: Run,
  operations: readonly Operation[],
): Promise<Exclude<WriteOutcome, { kind: 'inDoubt' }> | undefined> {
  const { store, random } = fencedPorts(run.ports);
  try {
    const outcome = await store.write(operations, { token: random.uuid() });
    if (outcome.kind !== 'inDoubt') return outcome;
    run.end({ kind: 'doubt', reason: 'a commit was left in doubt' });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    run.end({ kind: 'doubt', reason: `store unavailable: ${error.message}` });
  }
  return undefined;
}
