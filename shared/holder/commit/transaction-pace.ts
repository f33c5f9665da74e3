/** When the next transaction of a queue may begin, and how large it may be. */
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { operationsMax } from '../../store/store.ts';
import { throttledPauseMs } from '../../store/throttled.ts';

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
