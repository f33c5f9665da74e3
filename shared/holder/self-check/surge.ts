/**
 * The surge limit of one run: which targets turned unhealthy in the last minute, or would have, and since when they
 * form a surge.
 */
import { type BusEvent, schemaVersion } from '../../bus/events.ts';
import { isSurge, mayTurn, surgeWindowMs } from '../../core/self/health.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ShardMessage } from '../../queue/queue.ts';
import { hashRangeOf } from '../../store/records/keys.ts';
import type { Publisher } from '../probing/publisher.ts';

/** The numbers when the surge began. `sinceMs`: wall time. */
export type Surge = { readonly sinceMs: number; readonly turning: number; readonly targets: number };

export type SurgeLimit = {
  /**
   * Whether this target may turn unhealthy now. If not, the result waits for the next probe, which asks again.
   * `targets`: those of the shard.
   */
  ask(target: string, periodMs: number, targets: number): boolean;
  /** The present surge, or the last one. */
  surge(): Surge | undefined;
  /** How many failures it has held back. */
  heldBack(): number;
};

/** `onSurge`: called when a surge begins. */
export function surgeLimitOf(clock: Clock, onSurge: () => void): SurgeLimit {
  /** When each target last asked, oldest first. */
  const asked = new Map<string, number>();
  let surge: Surge | undefined;
  /** Monotonic; undefined: no surge. */
  let beganAtMs: number | undefined;
  let turned = 0;
  let heldBack = 0;

  const turning = (target: string, nowMs: number): number => {
    for (const [name, atMs] of asked) {
      if (nowMs - atMs <= surgeWindowMs) break;
      asked.delete(name);
    }
    asked.delete(target);
    asked.set(target, nowMs);
    return asked.size;
  };
  const begin = (nowMs: number, counts: Omit<Surge, 'sinceMs'>) => {
    beganAtMs = nowMs;
    turned = 0;
    surge = { sinceMs: clock.nowMs(), ...counts };
    onSurge();
  };
  return {
    ask(target, periodMs, targets) {
      const nowMs = clock.monotonicMs();
      const counts = { turning: turning(target, nowMs), targets };
      if (!isSurge(counts.turning, targets)) beganAtMs = undefined;
      else if (beganAtMs === undefined) begin(nowMs, counts);
      const surgeMs = nowMs - (beganAtMs ?? nowMs);
      const may = mayTurn({ ...counts, surgeMs, turned, periodMs });
      if (may) turned += 1;
      else heldBack += 1;
      return may;
    },
    surge: () => surge,
    heldBack: () => heldBack,
  };
}

/** Call the returned function when a surge begins and after each beat. */
export function surgePublisher(
  shard: Pick<ShardMessage, 'shard' | 'buckets'>,
  publisher: Publisher,
  surge: () => Surge | undefined,
): () => void {
  let publishedSinceMs: number | undefined;
  let isUnderWay = false;
  return () => {
    const current = surge();
    if (!current || current.sinceMs === publishedSinceMs || isUnderWay) return;
    isUnderWay = true;
    publisher.publish([surgeDetected(shard, current)], (isTaken) => {
      isUnderWay = false;
      if (isTaken) publishedSinceMs = current.sinceMs;
    });
  };
}

const surgeDetected = (
  { shard, buckets }: Pick<ShardMessage, 'shard' | 'buckets'>,
  { sinceMs, turning, targets }: Surge,
): BusEvent => ({
  detailType: 'Probe Surge Detected',
  timeMs: sinceMs,
  detail: {
    schemaVersion,
    id: `shard-${shard}#surge#${sinceMs}`,
    shard,
    hashRange: hashRangeOf(buckets),
    turning,
    targets,
    since: new Date(sinceMs).toISOString(),
  },
});
