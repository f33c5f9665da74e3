/**
 * InOrder: a run that no fault touches ends in order, and its RUN says so when the next run claims the shard. A table
 * without capacity is no fault: a run that ended because of it would leave the same load to its successor. Where clocks
 * differ by more than a few seconds, a successor cannot see that the run before it still beats, and claims at once.
 */
import { runKey } from '../../../shared/store/records/keys.ts';
import { keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import { aftermathMs, type Checker, lockAftermathMs } from './checker.ts';

/** RUN of a run that has ended in order. */
const lastBeat = -1;
const prefix = runKey('').pk;

export const inOrder: Checker = ({ faults, nowMs }, violated) => {
  /** By RUN, when its present run has claimed it. */
  const claimed = new Map<string, number>();

  const isUntouched = (sinceMs: number): boolean =>
    faults.during(sinceMs - aftermathMs, nowMs()).length === 0 &&
    faults.lockedMs() < sinceMs - lockAftermathMs &&
    faults.doubledMs() < sinceMs - aftermathMs;

  const broken = ({ before, after }: Change): boolean =>
    before !== undefined && before.beat !== lastBeat && before.generation === after?.generation;

  return {
    applied({ timeMs, writer, changes }) {
      for (const change of changes) {
        const { key, before, after } = change;
        if (keyKind(key) !== 'RUN' || !after || after.token === before?.token) continue;
        const sinceMs = claimed.get(key.pk);
        claimed.set(key.pk, timeMs);
        if (sinceMs === undefined || !broken(change) || !isUntouched(sinceMs)) continue;
        const shard = key.pk.slice(prefix.length);
        violated(`${writer}: the run of shard ${shard} since ${sinceMs} has not ended in order`);
      }
    },
  };
};
