/** Publishes that a prober is degraded: one event when that begins, and one when it is over. */
import type { BusEvent } from '../../bus/events.ts';
import { schemaVersion } from '../../bus/events.ts';
import type { ShardMessage } from '../../queue/queue.ts';
import { hashRangeOf } from '../../store/keys.ts';
import type { BeatState, Doubt } from '../beat.ts';
import type { Holder } from '../holder.ts';
import { isInLayout } from '../layout-follower.ts';

type Shard = Pick<ShardMessage, 'shard' | 'buckets'>;

export type DoubtPublisher = {
  /**
   * Whether the next run has to publish the recovery. If it is unknown what was published: the opposite of
   * `isDegraded`.
   */
  published(isDegraded: boolean): boolean;
  /** Call it after every written beat: RUN records the state before the event is published. */
  written(state: BeatState): Promise<void>;
};

/** What the previous run recorded in RUN. */
type Inherited = { readonly degraded: boolean; readonly degradedTold: boolean };

/**
 * An event that the bus did not take is published again after the next beat. A run may be fenced between publishing an
 * event and the beat that records it. So if RUN's state differs from what it records as published, the event may or may
 * not have been published, and the next state is published, whichever it is.
 * For a shard that LAYOUT has divided or merged, nothing is published: the holders of its parts may have claimed them
 * before this beat, and would not know which event to revoke.
 */
export function doubtPublisher(
  { run, publisher }: Pick<Holder, 'run' | 'publisher'>,
  { degraded: wasDegraded, degradedTold }: Inherited,
): DoubtPublisher {
  let published: boolean | undefined = wasDegraded === degradedTold ? degradedTold : undefined;
  let isUnderWay = false;
  /** The same time in each attempt to publish the recovery. */
  let recoveredAtMs: number | undefined;
  return {
    published: (isDegraded) => published ?? !isDegraded,
    async written({ doubt }) {
      const isDegraded = doubt !== undefined;
      if (isDegraded || published === false) recoveredAtMs = undefined;
      if (isDegraded === published || isUnderWay) return;
      isUnderWay = true;
      if (!(await isInLayout(run))) {
        isUnderWay = false;
        return;
      }
      // The bus may take the event although its answer is lost. From here on it is unknown what was published.
      if (doubt) published = undefined;
      if (!doubt) recoveredAtMs ??= run.ports.clock.nowMs();
      const event = doubt ? degraded(run.message, doubt) : recovered(run.message, recoveredAtMs ?? 0);
      publisher.publish([event], (isTaken) => {
        isUnderWay = false;
        if (isTaken) published = isDegraded;
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
  hashRange: hashRangeOf(buckets),
  since: new Date(sinceMs).toISOString(),
});
