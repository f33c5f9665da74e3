/** Publishes that a prober is degraded or overloaded: one event when that begins, and one when it is over. */
import type { BusEvent } from '../../bus/events.ts';
import { schemaVersion } from '../../bus/events.ts';
import type { Overload } from '../../core/self/overload.ts';
import type { ShardMessage } from '../../queue/queue.ts';
import { hashRangeOf } from '../../store/records/keys.ts';
import type { BeatState, Doubt } from '../beat.ts';
import type { Holder } from '../holder.ts';
import { isInLayout } from '../layout-follower.ts';

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

type Publishing = Pick<Holder, 'run' | 'publisher'>;

/** What the previous run recorded in RUN. */
type Inherited = { readonly is: boolean; readonly told: boolean };

type Events<State> = {
  readonly of: (beat: BeatState) => State | undefined;
  readonly begun: (shard: Shard, state: State) => BusEvent;
  readonly ended: (shard: Shard, nowMs: number) => BusEvent;
};

export const doubtPublisher = (
  holder: Publishing,
  { degraded: is, degradedTold: told }: { readonly degraded: boolean; readonly degradedTold: boolean },
): StatePublisher =>
  statePublisher(holder, { is, told }, { of: ({ doubt }) => doubt, begun: degraded, ended: recovered });

export const overloadPublisher = (
  holder: Publishing,
  { overloaded: is, overloadedTold: told }: { readonly overloaded: boolean; readonly overloadedTold: boolean },
): StatePublisher =>
  statePublisher(holder, { is, told }, { of: ({ overload }) => overload, begun: overloaded, ended: caughtUp });

/**
 * An event that the bus did not take is published again after the next beat. A run may be fenced between publishing an
 * event and the beat that records it. So if RUN's state differs from what it records as published, the event may or may
 * not have been published, and the next state is published, whichever it is.
 * For a shard that LAYOUT has divided or merged, nothing is published: the holders of its parts may have claimed them
 * before this beat, and would not know which event to revoke.
 */
function statePublisher<State>(
  { run, publisher }: Publishing,
  { is: wasSo, told }: Inherited,
  { of, begun, ended }: Events<State>,
): StatePublisher {
  let published: boolean | undefined = wasSo === told ? told : undefined;
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
