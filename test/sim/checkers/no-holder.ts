/** NoHolder is published only if no holder has beaten for a while: a holder with a wrong clock counts. */
import { isOfRun } from '../store.ts';
import type { Checker, Facts } from './checker.ts';
import { shardsOf } from './shards.ts';

/** From the look of a schedule to its event, without faults. */
const publishingMs = 30_000;
/** A shard that beat so shortly before the look was not silent for a minute, whatever the clocks show. */
const beatingMs = 20_000;
/** With a wrong clock, a schedule cannot see a minute's silence between two looks (record 32). */
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
      // A new layout alone ends no absence: its shards have no beat yet.
      if (facts.ledger.laidOutMs() > lookedMs) return;
      // A schedule with another clock sees one late beat as silence.
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
