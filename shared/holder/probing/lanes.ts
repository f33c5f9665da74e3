/**
 * Looks at due targets in a few lanes, however many are due. Each lane takes targets of one bucket at a time. All at
 * once they would fill the sockets and the event loop, which the beat needs too.
 */
import type { Bucket } from '../../store/records/keys.ts';
import type { HeldTarget } from './held.ts';

/** Looks under way at the same time. At a few ms a read, they serve more than a thousand targets a second. */
const lanesMax = 8;
/** Targets of one look. Everything that is read of them is in memory at once. */
const groupMax = 100;

export type TendLanes = {
  /**
   * Adds a due target. Does nothing while the target is being looked at, because the end of that look says when the
   * next one is due.
   */
  add(held: HeldTarget): void;
  /**
   * Begins as many looks as there are free lanes. Call it once all due targets have been added, so that targets of one
   * bucket share a look.
   */
  begin(): void;
};

export type Tending = {
  /** Looks at targets of one bucket. */
  readonly tend: (group: readonly HeldTarget[]) => Promise<void>;
  /** Tracks the work until it ends, and swallows what it throws. */
  readonly track: (work: Promise<void>) => void;
  readonly isOver: () => boolean;
};

export function tendLanes({ tend, track, isOver }: Tending): TendLanes {
  /** Due targets by bucket. The bucket that has waited longest comes first. */
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

/** Takes a group from the bucket that has waited longest. Targets that do not fit wait behind the other buckets. */
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
