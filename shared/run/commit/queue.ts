/**
 * The only queue through which the decisions of a holder become durable. It groups commits into transactions over
 * disjoint buckets, each fenced by the EPOCH of every bucket that it touches. If another writer has overtaken a commit,
 * only that commit is dropped. A lost fence ends the run.
 */
import { type Clock, sleep } from '../../lib/clock.ts';
import type { Refusal } from '../../store/store.ts';
import type { Run } from '../run.ts';
import { writeFenced } from './fence.ts';
import { type Commit, type CommitPlan, planCommits } from './plan.ts';
import { waitingCommits } from './waiting.ts';

/**
 * `superseded`: the item has changed or is gone, so the target has to be read again. `void`: the run has ended, and
 * nothing was written.
 */
export type CommitResult = 'committed' | 'superseded' | 'void';

export type CommitQueue = {
  submit(commit: Commit): Promise<CommitResult>;
  /** Resolves when nothing is queued or under way. */
  drained(): Promise<void>;
};

/**
 * Limits the cost of one holder however much changes: 32 transactions a second of at most 100 operations. That is 800
 * commits a second if each is in another bucket: a commit then takes four operations (its item, its event twice, the
 * fence), so a transaction holds 25.
 */
const transactionsPerSecondMax = 32;
const writeIntervalMs = 1_000 / transactionsPerSecondMax;
/**
 * Transactions under way at the same time; no two of them share a bucket. At 32 a second this is enough for answers
 * that take 250 ms.
 */
const inFlightMax = 8;
/**
 * A slower transaction shows that the store or this process is overloaded, and the beat must still get through. Each
 * slow transaction halves the number that may be under way; each faster one adds one. The minimum is one at a time,
 * four a second.
 */
const slowMs = 500;
const conflictJitterMs = 100;
const conflictsMax = 20;

type Entry = { readonly commit: Commit; readonly settle: (result: CommitResult) => void };

export const commitQueue = (run: Run): CommitQueue => new TransactionQueue(run);

class TransactionQueue implements CommitQueue {
  readonly #run: Run;
  readonly #waiting = waitingCommits<Entry>();
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

/** Limits how many transactions are under way, and when the next one may begin. */
function transactionPace(clock: Clock) {
  let inFlight = 0;
  let atOnce = inFlightMax;
  let beganAtMs = Number.NEGATIVE_INFINITY;
  return {
    mayBegin: () => inFlight < atOnce,
    isIdle: () => inFlight === 0,
    inMs: (readyAtMs: number) =>
      Math.max(beganAtMs + (writeIntervalMs * inFlightMax) / atOnce, readyAtMs) - clock.monotonicMs(),
    /** Returns a function to call when the transaction has ended. */
    begin() {
      inFlight += 1;
      beganAtMs = clock.monotonicMs();
      const startedAtMs = beganAtMs;
      return () => {
        inFlight -= 1;
        const isSlow = clock.monotonicMs() - startedAtMs > slowMs;
        atOnce = isSlow ? Math.max(1, Math.floor(atOnce / 2)) : Math.min(inFlightMax, atOnce + 1);
      };
    },
  };
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
