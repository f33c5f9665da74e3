/**
 * Tried: while a release is desired that does not start, at most one shard's run gives its shard up for it: the others
 * stay until their slot is over.
 */
import { layoutKey } from '../../../shared/store/records/keys.ts';
import { isOfRun } from '../store.ts';
import type { Change } from '../table.ts';
import type { Checker } from './checker.ts';

/** RUN of a run that has ended in order. */
const lastBeat = -1;

export const tried: Checker = ({ table, nowMs }, violated) => {
  let brokenUntilMs = 0;
  /** What was desired when the broken release came. */
  let before: unknown;
  let left = new Set<string>();
  /** They hold a shard for two slots, longer than an invocation takes, and then hand it over in any case. */
  const rescues = new Set<string>();

  /** Its run gave it up before the end of its slot, though the layout still has it and no leave is asked for. */
  const gaveUp = ({ before: old, after }: Change): boolean =>
    old?.beat !== lastBeat && after?.beat === lastBeat && after.doneSlot !== after.slot && after.leave !== after.token;

  return {
    runStarted({ prober, isRescue }) {
      if (isRescue) rescues.add(prober);
    },
    faultDone({ kind, untilMs }) {
      if (kind !== 'release broken') return;
      brokenUntilMs = untilMs;
      before = table.get(layoutKey)?.desiredRelease;
      left = new Set();
    },
    applied({ writer, changes }) {
      if (nowMs() > brokenUntilMs) return;
      const layout = table.get(layoutKey);
      // A run may still follow the release before, until the schedule asks for this one.
      if (layout?.desiredRelease === before) return;
      for (const change of changes) {
        if (!isOfRun(change) || !gaveUp(change) || rescues.has(writer)) continue;
        const shard = change.key.pk.slice('RUN#'.length);
        if (layout?.[`generation:${shard}`] !== change.after?.generation) continue;
        left.add(shard);
        if (left.size > 1)
          violated(`${writer}: shards ${[...left].join(', ')} gave up for a release that does not start`);
      }
    },
  };
};
