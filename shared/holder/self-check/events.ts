/** Publishes that a prober is degraded or overloaded: one event when that begins, and one when it is over. */
import type { BusEvent } from '../../bus/events.ts';
import { schemaVersion } from '../../bus/events.ts';
import type { Route } from '../../core/self/health.ts';
import type { Overload } from '../../core/self/overload.ts';
import type { Behind } from '../../core/status/freshness.ts';
import type { ShardMessage } from '../../queue/queue.ts';
import { hashRangeOf } from '../../store/records/keys.ts';
import type { Holder } from '../holder.ts';
import type { Inherited } from '../inherited.ts';
import { isInLayout } from '../layout-follower.ts';

/** How a run is, as its beats say. */
export type BeatState = {
  /** When the loop last had no due probe left, ms since the epoch. */
  readonly observedAtMs: number;
  readonly behind: Behind;
  /** How many probes are late: their results are no longer shown. */
  readonly late: number;
  /** Whether the state last published to subscribers is degraded. */
  readonly degradedTold: boolean;
  /** Set while the prober doubts itself. */
  readonly doubt?: Doubt;
  /** As `degradedTold`, of the overload. */
  readonly overloadedTold: boolean;
  /** Set while more probes are due than can begin in time. */
  readonly overload?: Overload;
};

export type Doubt = { readonly reason: string; readonly route?: Route; readonly sinceMs: number };

type Shard = Pick<ShardMessage, 'shard' | 'buckets'>;

export type StatePublisher = {
  /**
   * Whether the next run has to publish the end of the state. If it is unknown what was published: the opposite of
   * `isSo`.
   */
  published(isSo: boolean): boolean;
  /** Call it after every written beat: RUN records the state before the event is published. */
  written(state: BeatState): Promise<void>;
};

type Events<State> = {
  readonly of: (beat: BeatState) => State | undefined;
  readonly begun: (shard: Shard, state: State) => BusEvent;
  readonly ended: (shard: Shard, nowMs: number) => BusEvent;
};

export const doubtPublisher = (holder: Holder, { degraded: is, degradedTold: was }: Inherited): StatePublisher =>
  statePublisher(holder, is === was ? was : undefined, { of: ({ doubt }) => doubt, begun: degraded, ended: recovered });

export const overloadPublisher = (holder: Holder, { overloaded: is, overloadedTold: was }: Inherited): StatePublisher =>
  statePublisher(holder, is === was ? was : undefined, {
    of: ({ overload }) => overload,
    begun: overloaded,
    ended: caughtUp,
  });

/**
 * An event that the bus did not take is published again after the next beat. A run may be fenced between publishing an
 * event and the beat that records it. So if RUN's state differs from what it records as published, the event may or may
 * not have been published, and the next state is published, whichever it is.
 * For a shard that LAYOUT has divided or merged, nothing is published: the holders of its parts may have claimed them
 * before this beat, and would not know which event to revoke.
 */
function statePublisher<State>(
  { run, publisher }: Holder,
  lastPublished: boolean | undefined,
  { of, begun, ended }: Events<State>,
): StatePublisher {
  let published = lastPublished;
  let isUnderWay = false;
  /** The same time in each attempt to publish the end. */
  let endedAtMs: number | undefined;
  let lastEndMs = Number.NEGATIVE_INFINITY;
  return {
    published: (isSo) => published ?? !isSo,
    async written(beat) {
      const state = of(beat);
      const isSo = state !== undefined;
      if (isSo || published === false) endedAtMs = undefined;
      if (isSo === published || isUnderWay) return;
      isUnderWay = true;
      if (!(await isInLayout(run))) {
        isUnderWay = false;
        return;
      }
      // The bus may take the event although its answer is lost. From here on it is unknown what was published.
      if (state) published = undefined;
      if (!state) endedAtMs ??= run.ports.clock.nowMs();
      if (endedAtMs !== undefined) lastEndMs = endedAtMs;
      const event = state ? after(lastEndMs, begun(run.message, state)) : ended(run.message, endedAtMs ?? 0);
      publisher.publish([event], (isTaken) => {
        isUnderWay = false;
        if (isTaken) published = isSo;
      });
    },
  };
}

/**
 * The later time counts, and what begins again may have been suspected before the beat that said that it was over.
 */
const after = (endMs: number, event: BusEvent): BusEvent =>
  event.timeMs > endMs ? event : { ...event, timeMs: endMs + 1 };

const degraded = (shard: Shard, { reason, route, sinceMs }: Doubt): BusEvent => ({
  detailType: 'Prober Degraded',
  timeMs: sinceMs,
  detail: { ...detailOf(shard, 'degraded', sinceMs), reason, ...(route && { route }) },
});

const recovered = (shard: Shard, nowMs: number): BusEvent => ({
  detailType: 'Prober Recovered',
  timeMs: nowMs,
  detail: detailOf(shard, 'recovered', nowMs),
});

const overloaded = (shard: Shard, { reason, sinceMs }: Overload): BusEvent => ({
  detailType: 'Prober Overloaded',
  timeMs: sinceMs,
  detail: { ...detailOf(shard, 'overloaded', sinceMs), reason },
});

const caughtUp = (shard: Shard, nowMs: number): BusEvent => ({
  detailType: 'Prober Caught Up',
  timeMs: nowMs,
  detail: detailOf(shard, 'caught-up', nowMs),
});

const detailOf = ({ shard, buckets }: Shard, what: string, sinceMs: number) => ({
  schemaVersion: schemaVersion as typeof schemaVersion,
  id: `shard-${shard}#${what}#${sinceMs}`,
  shard,
  hashRange: hashRangeOf(buckets),
  since: new Date(sinceMs).toISOString(),
});
