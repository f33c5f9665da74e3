/** When the next transaction of a queue may begin. */
import type { Clock } from '../../lib/clock.ts';

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

/** Limits how many transactions are under way, and when the next one may begin. */
export function transactionPace(clock: Clock) {
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
