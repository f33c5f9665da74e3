/** How fast the targets of a run turn unhealthy: who asked in the last minute, and who was let through in the last second. */
import { isSurge, mayTurn, surgeWindowMs } from '../core/velocity.ts';
import type { Clock } from '../lib/clock.ts';

export type Velocity = {
  /**
   * May this target turn unhealthy now, of so many that the shard has? false: the probe that says so is to count for nothing, so that
   * the next one decides, and asks again.
   */
  ask(target: string, targets: number): boolean;
};

const secondMs = 1_000;

export function velocityOf(clock: Clock): Velocity {
  /** By target, when it last asked; the longest ago comes first. */
  const asked = new Map<string, number>();
  let granted: readonly number[] = [];

  return {
    ask(target, targets) {
      const nowMs = clock.monotonicMs();
      for (const [name, atMs] of asked) {
        if (nowMs - atMs <= surgeWindowMs) break;
        asked.delete(name);
      }
      asked.delete(target);
      asked.set(target, nowMs);
      granted = granted.filter((atMs) => nowMs - atMs < secondMs);
      const turning = asked.size;
      if (!mayTurn({ turning, targets, grantedInSecond: granted.length })) return false;
      if (isSurge(turning, targets)) granted = [...granted, nowMs];
      return true;
    },
  };
}
