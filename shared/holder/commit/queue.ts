/**
 * The only queue through which the decisions of a holder become durable. It groups commits into transactions over
 * disjoint buckets, each fenced by the EPOCH of every bucket that it touches. If another writer has overtaken a commit,
 * only that commit is dropped. A lost fence ends the run. A throttled transaction has changed nothing: its commits wait
 * again, and the queue slows down, for as long as the run is in force.
 */
import { type Clock, sleep, within } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import {
  type Operation,
  operationsMax,
  type Refusal,
  StoreThrottled,
  StoreUnavailable,
  type WriteOutcome,
} from '../../store/store.ts';
import { throttledPauseMs } from '../../store/throttled.ts';
import type { Run } from '../run.ts';
import { type Commit, type CommitPlan, planCommits, transactionSize, WaitingCommits } from './plan.ts';

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
    const lost = settleRefused(run, entries, plan, outcome.refusals);
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
  entries: readonly Entry[],
  plan: CommitPlan,
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

// When the next transaction of a queue may begin, and how large it may be.

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

/**
 * A throttled transaction shows that all holders together write more than the table, a partition or the account takes.
 * So each halves its own rate, in operations a second, and every transaction that is written adds a little: as TCP
 * finds its share of a line that it does not know.
 */
const perSecondMax = transactionsPerSecondMax * operationsMax;
const perSecondMin = 4;
const perSecondMore = 16;

const slowed = (perSecond: number): number => Math.max(perSecondMin, perSecond / 2);

/** The part of a second whose operations one transaction may have, so that it is no peak of its own. */
const transactionSeconds = 0.125;
/** The fence and the most that one verdict needs. */
const operationsMin = 4;

/** For so long after a throttle what the table need not have is left out. */
const scarceMs = 10_000;

export type TransactionEnd = 'over' | 'throttled';

/** Limits how many transactions are under way, when the next one may begin, and how many operations it may have. */
export function transactionPace({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
  let inFlight = 0;
  let atOnce = inFlightMax;
  let beganAtMs = Number.NEGATIVE_INFINITY;
  let perSecond = perSecondMax;
  let throttles = 0;
  let throttledAtMs = Number.NEGATIVE_INFINITY;
  let nextAtMs = Number.NEGATIVE_INFINITY;

  /** Those that were under way together are throttled together, which is one sign. */
  const throttled = (startedAtMs: number) => {
    const nowMs = clock.monotonicMs();
    if (startedAtMs >= throttledAtMs) {
      perSecond = slowed(perSecond);
      throttles += 1;
    }
    throttledAtMs = nowMs;
    nextAtMs = Math.max(nextAtMs, nowMs + throttledPauseMs(throttles, random));
  };

  const over = (startedAtMs: number) => {
    const isSlow = clock.monotonicMs() - startedAtMs > slowMs;
    atOnce = isSlow ? Math.max(1, Math.floor(atOnce / 2)) : Math.min(inFlightMax, atOnce + 1);
    if (startedAtMs < throttledAtMs) return;
    perSecond = Math.min(perSecondMax, perSecond + perSecondMore);
    throttles = 0;
  };

  return {
    mayBegin: () => inFlight < atOnce,
    isIdle: () => inFlight === 0,
    inMs: (readyAtMs: number) =>
      Math.max(beganAtMs + (writeIntervalMs * inFlightMax) / atOnce, nextAtMs, readyAtMs) - clock.monotonicMs(),
    /** Of the next transaction. */
    operations: () => Math.max(operationsMin, Math.min(operationsMax, Math.floor(perSecond * transactionSeconds))),
    /** Whether the table has had no capacity left a short time ago. */
    isScarce: () => clock.monotonicMs() - throttledAtMs < scarceMs,
    /** Of so many operations. Returns a function to call when the transaction has ended. */
    begin(operations: number) {
      inFlight += 1;
      beganAtMs = clock.monotonicMs();
      nextAtMs = Math.max(nextAtMs, beganAtMs + (operations / perSecond) * 1_000);
      const startedAtMs = beganAtMs;
      return (end: TransactionEnd) => {
        inFlight -= 1;
        if (end === 'throttled') throttled(startedAtMs);
        else over(startedAtMs);
      };
    },
  };
}
