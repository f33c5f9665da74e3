/** `Probe Surge Detected`: published at once when a surge begins, and after each beat until the bus has taken it. */
import type { BusEvent } from '../bus/events.ts';
import { schemaVersion } from '../bus/events.ts';
import type { ShardMessage } from '../queue/queue.ts';
import { hashRangeOf } from '../store/keys.ts';
import type { Publisher } from './publisher.ts';
import type { Surge } from './velocity.ts';

/** To be called when a surge begins and after each beat. */
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
