/** That nobody holds a range is told only when that was so a moment ago: a holder whose clock is wrong is one all the same. */
import { isOfRun } from '../store.ts';
import type { Checker, Facts } from './checker.ts';
import { shardsOf } from './shards.ts';

/** From when a schedule looks to when it has told of it, where nothing goes wrong. */
const publishingMs = 30_000;
/** Whoever beat so short a time before it looked was not silent for a minute, whatever the clocks say. */
const beatingMs = 20_000;
/** Of somebody whose clock is wrong a minute's silence cannot be told from that between two looks, even if it has just ended (record 32). */
const silentMs = 6_000;
const keptMs = 120_000;

export const noHolder: Checker = (facts, violated) => {
  /** By shard, when its RUN was written lately. */
  const beats = new Map<string, readonly number[]>();
  return {
    applied({ timeMs, changes }) {
      for (const change of changes) {
        if (!isOfRun(change)) continue;
        const shard = change.key.pk.slice('RUN#'.length);
        const recent = (beats.get(shard) ?? []).filter((atMs) => atMs > timeMs - keptMs);
        beats.set(shard, [...recent, timeMs]);
      }
    },
    published({ timeMs, publisher, event }) {
      if (event.detailType !== 'Prober Degraded' || event.detail.reason !== 'NoHolder') return;
      const lookedMs = timeMs - publishingMs;
      const isBeating = (shard: string) => {
        const atMs = (beats.get(shard) ?? []).filter((beatMs) => beatMs > lookedMs - beatingMs);
        const isAlways = [...atMs, timeMs].every((beatMs, index) => beatMs - (atMs[index - 1] ?? beatMs) < silentMs);
        return isAlways && atMs.some((beatMs) => beatMs <= lookedMs);
      };
      if (!shardsIn(facts, event.detail.hashRange).every(isBeating)) return;
      // A new layout alone ends no absence: in its shards nobody has beaten yet.
      if (facts.ledger.laidOutMs() > lookedMs) return;
      // One beat that is late is all the silence that a schedule with another clock sees.
      if (facts.faults.during(lookedMs, timeMs).length > 0) return;
      violated(`${publisher} told that nobody holds ${event.detail.hashRange}, whose shards were beating`);
    },
  };
};

/** The shards that now have a part of the range. */
function shardsIn(facts: Facts, hashRange: string): readonly string[] {
  const [first = 0, last = 0] = hashRange.split('-').map((bucket) => Number.parseInt(bucket, 16));
  return shardsOf(facts)
    .filter(({ from, to }) => from <= last && to > first)
    .map(({ name }) => name);
}
