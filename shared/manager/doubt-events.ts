/** What subscribers are told of a prober that doubts itself: once when it begins, once when it is over. */
import type { BusEvent } from '../bus/events.ts';
import { schemaVersion } from '../bus/events.ts';
import type { ShardMessage } from '../queue/queue.ts';
import { bucketName } from '../store/keys.ts';
import type { BeatState, Doubt } from './beat.ts';
import type { Holder } from './holder.ts';

type Shard = Pick<ShardMessage, 'shard' | 'buckets'>;

export type DoubtTeller = {
  /** What subscribers were last told: the next run goes on from there. */
  told(): boolean;
  /** To be called with every beat that was written: first RUN says it, then the event. */
  written(state: BeatState): void;
};

/** An event that the bus did not take is published again after the next beat. `wasTold`: the run before had told of a doubt. */
export function doubtTeller({ run, publisher }: Holder, wasTold: boolean): DoubtTeller {
  let told = wasTold;
  let isUnderWay = false;
  /** The same for every try. */
  let recoveredAtMs: number | undefined;
  return {
    told: () => told,
    written({ doubt }) {
      const isDegraded = doubt !== undefined;
      if (isDegraded || !told) recoveredAtMs = undefined;
      if (isDegraded === told || isUnderWay) return;
      isUnderWay = true;
      if (!doubt) recoveredAtMs ??= run.ports.clock.nowMs();
      const event = doubt ? degraded(run.message, doubt) : recovered(run.message, recoveredAtMs ?? 0);
      publisher.publish([event], (isTaken) => {
        isUnderWay = false;
        if (isTaken) told = isDegraded;
      });
    },
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
