/** What subscribers are told of a prober that doubts itself: once when it begins, once when it is over. */
import type { BusEvent } from '../bus/events.ts';
import { schemaVersion } from '../bus/events.ts';
import type { ShardMessage } from '../queue/queue.ts';
import { bucketName } from '../store/keys.ts';
import type { BeatState, Doubt } from './beat.ts';
import type { Holder } from './holder.ts';

type Shard = Pick<ShardMessage, 'shard' | 'buckets'>;

/**
 * Told of every beat that was written: first RUN says it, then the event, so that the run after a crash knows what is to be taken back.
 * `wasDegraded`: the run before had told of a doubt.
 */
export function doubtTeller({ run, publisher }: Holder, wasDegraded: boolean): (state: BeatState) => void {
  let told = wasDegraded;
  return ({ doubt }) => {
    if ((doubt !== undefined) === told) return;
    told = doubt !== undefined;
    publisher.publish([doubt ? degraded(run.message, doubt) : recovered(run.message, run.ports.clock.nowMs())]);
  };
}

const degraded = (shard: Shard, { reason, sinceMs }: Doubt): BusEvent => ({
  detailType: 'Prober Degraded',
  timeMs: sinceMs,
  detail: { ...detailOf(shard, 'degraded', sinceMs), reason },
});

const recovered = (shard: Shard, nowMs: number): BusEvent => ({
  detailType: 'Prober Recovered',
  timeMs: nowMs,
  detail: detailOf(shard, 'recovered', nowMs),
});

const detailOf = ({ shard, buckets }: Shard, what: string, sinceMs: number) => ({
  schemaVersion: schemaVersion as typeof schemaVersion,
  id: `shard-${shard}#${what}#${sinceMs}`,
  shard,
  hashRange: `${bucketName(buckets.from)}-${bucketName(buckets.to - 1)}`,
  since: new Date(sinceMs).toISOString(),
});
