/**
 * Targets that are due to be looked at, however many at once: a few lanes take them, a bucket at a time. All at once they would fill the
 * sockets and the event loop that the heartbeat needs as well.
 */
import type { Bucket } from '../../store/keys.ts';
import type { HeldTarget } from './held-target.ts';

/** Looks under way at the same time: at a few ms a read, more than a thousand targets a second. */
const lanesMax = 8;
/** Targets of one look: what is read of them is in memory at once. */
const groupMax = 100;

export type TendLanes = {
  /** The target is due. Nothing happens while it is being looked at: the end of a look says when the next one is due. */
  add(held: HeldTarget): void;
  /** Begins what there are lanes for. To be called once all that is due has been added, so that targets of one bucket go together. */
  begin(): void;
};

export type Tending = {
  /** Of one bucket. */
  readonly tend: (group: readonly HeldTarget[]) => Promise<void>;
  /** Follows what is under way, and swallows what it throws. */
  readonly track: (work: Promise<void>) => void;
  readonly isOver: () => boolean;
};

export function tendLanes({ tend, track, isOver }: Tending): TendLanes {
  /** The bucket that has waited for the longest comes first. */
  const waiting = new Map<Bucket, Set<HeldTarget>>();
  const tending = new Set<HeldTarget>();
  let busy = 0;

  const begin = () => {
    while (busy < lanesMax && !isOver()) {
      const group = takeGroup(waiting);
      if (!group) return;
      busy += 1;
      for (const held of group) tending.add(held);
      track(tend(group).finally(() => end(group)));
    }
  };
  const end = (group: readonly HeldTarget[]) => {
    for (const held of group) tending.delete(held);
    busy -= 1;
    begin();
  };
  return {
    add(held) {
      if (tending.has(held)) return;
      const { bucket } = held.address;
      const due = waiting.get(bucket) ?? new Set();
      waiting.set(bucket, due.add(held));
    },
    begin,
  };
}

/** What does not fit waits behind the other buckets. */
function takeGroup(waiting: Map<Bucket, Set<HeldTarget>>): readonly HeldTarget[] | undefined {
  for (const [bucket, due] of waiting) {
    waiting.delete(bucket);
    const group = [...due].slice(0, groupMax);
    for (const held of group) due.delete(held);
    if (due.size > 0) waiting.set(bucket, due);
    const held = group.filter(({ gone }) => !gone);
    if (held.length > 0) return held;
  }
  return undefined;
}
