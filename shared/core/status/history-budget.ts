/**
 * How many entries a probe may write to the event history. One that never comes to rest would otherwise write one with
 * each attempt until they expire: gigabytes a week. Pure.
 */
import type { EventRecord, HistoryBudget } from '../spec/records.ts';

/** Entries at once. */
const burst = 1_000;
/** One more after this time. */
const refillMs = 60_000;
/** After this time without an event, a burst is allowed again. */
const wholeMs = burst * refillMs;

export type Spent = {
  /** All events, each with the count of those of its kind that were left out before it. */
  readonly counted: readonly EventRecord[];
  /** Those of them that the history gets. */
  readonly kept: readonly EventRecord[];
  readonly budget: HistoryBudget | undefined;
};

/**
 * `isFree`: what a client has asked for is kept in any case and costs nothing. `isScarce`: the table has no capacity
 * left, so only transitions are kept besides.
 */
export function spend(
  before: HistoryBudget | undefined,
  events: readonly EventRecord[],
  isFree: (event: EventRecord) => boolean,
  isScarce: boolean,
): Spent {
  const kept: EventRecord[] = [];
  const counted: EventRecord[] = [];
  let budget = before;
  for (const event of events) {
    const { omitted, fullAtMs: beforeMs } = budget ?? full;
    const { [event.kind]: missing = 0, ...others } = omitted;
    const own = { ...event, count: event.count + missing };
    counted.push(own);
    // A wall clock that was hours ahead has left an instant that is too far away.
    const fullAtMs = Math.min(Math.max(beforeMs, event.timeMs), event.timeMs + wholeMs);
    if (isFree(event)) kept.push(event);
    else if ((isScarce && event.kind === 'recorded') || fullAtMs + refillMs > event.timeMs + wholeMs)
      budget = { fullAtMs, omitted: { ...others, [event.kind]: own.count } };
    else {
      kept.push(own);
      budget = { fullAtMs: fullAtMs + refillMs, omitted: others };
    }
  }
  return { counted, kept, budget };
}

const full: HistoryBudget = { fullAtMs: 0, omitted: {} };
