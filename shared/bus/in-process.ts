/**
 * The bus within one process. It has EventBridge's patterns and guarantees: delivery is asynchronous, at least once to
 * each subscriber within bounded retries, and unordered between subscribers. Each subscriber has its own bounded queue,
 * so one that throws or is slow does not affect the others.
 */
import { type Clock, sleep } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { pacer } from '../lib/pace.ts';
import type { Random } from '../lib/random.ts';
import type { Bus } from './bus.ts';
import { type EventEnvelope, envelopeJson, envelopeOf } from './envelope.ts';
import { compilePattern, type Matches } from './pattern.ts';

export type Subscriber = (event: EventEnvelope) => Promise<void> | void;

export type InProcessBus = Bus & {
  /**
   * Delivers matching events from now on. The returned function ends the subscription and drops its queued events.
   * Throws `InvalidPattern`, because a pattern is code and not input.
   */
  subscribe(pattern: unknown, subscriber: Subscriber, options?: SubscribeOptions): () => void;
  /** Resolves when no event is queued or being delivered. */
  settled(): Promise<void>;
};

export type SubscribeOptions = {
  /** For the log. */
  readonly name?: string;
  /** How many deliveries may run at the same time; 1 keeps the order of publication. */
  readonly concurrency?: number;
};

export type InProcessBusOptions = {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The longest queue of one subscriber. Further events are dropped for that subscriber. */
  readonly queueMax?: number;
};

const defaultQueueMax = 10_000;
/**
 * CPU time for one subscriber in a turn of the event loop. With a store in this process, a subscriber never waits for
 * I/O and would process its whole queue before anything else runs.
 */
const sliceMs = 5;
/** EventBridge retries for 24 h. Here a restart reads the state again, so a few attempts suffice. */
const attemptsMax = 4;
const firstRetryMs = 100;

type Subscription = {
  readonly name: string;
  readonly matches: Matches;
  readonly subscriber: Subscriber;
  readonly concurrency: number;
  readonly queue: EventEnvelope[];
  readonly ended: AbortController;
  delivering: number;
  overflowing: boolean;
};

/** Returns a bus for subscribers in this process. */
export function inProcessBus(options: InProcessBusOptions): InProcessBus {
  const { clock, random, log, queueMax = defaultQueueMax } = options;
  const subscriptions = new Set<Subscription>();
  let waiting: (() => void)[] = [];

  const isIdle = () => [...subscriptions].every((each) => each.queue.length === 0 && each.delivering === 0);
  const settle = () => {
    if (!isIdle()) return;
    const resolved = waiting;
    waiting = [];
    for (const resolve of resolved) resolve();
  };

  const deliver = async (to: Subscription, event: EventEnvelope) => {
    for (let attempt = 1; attempt <= attemptsMax && !to.ended.signal.aborted; attempt += 1) {
      try {
        await to.subscriber(structuredClone(event));
        return;
      } catch (error) {
        const last = attempt === attemptsMax;
        log.warn(last ? 'event dropped: the subscriber keeps failing' : 'subscriber failed', {
          subscriber: to.name,
          eventId: event.id,
          attempt,
          error,
        });
        if (!last) await sleep(clock, firstRetryMs * 2 ** (attempt - 1) * (0.5 + random.next() / 2), to.ended.signal);
      }
    }
  };

  const drain = async (from: Subscription) => {
    from.delivering += 1;
    // Delivery is always asynchronous, as over a network, so a publisher never runs a subscriber's code.
    await Promise.resolve();
    const pace = pacer(clock, sliceMs);
    for (let event = from.queue.shift(); event; event = from.queue.shift()) {
      await pace();
      await deliver(from, event);
    }
    from.delivering -= 1;
    from.overflowing = false;
    settle();
  };

  const offer = (to: Subscription, event: EventEnvelope) => {
    if (to.queue.length >= queueMax) {
      if (!to.overflowing) log.warn('events dropped: the subscriber is too slow', { subscriber: to.name, queueMax });
      to.overflowing = true;
      return;
    }
    to.queue.push(event);
    if (to.delivering < to.concurrency) void drain(to);
  };

  return {
    publish: async (events) => {
      for (const event of events) {
        const envelope = envelopeOf(event);
        for (const each of subscriptions) if (each.matches(envelopeJson(envelope))) offer(each, envelope);
      }
      return { failed: [] };
    },
    subscribe: (pattern, subscriber, { name = 'subscriber', concurrency = 1 } = {}) => {
      const subscription: Subscription = {
        name,
        matches: compilePattern(pattern),
        subscriber,
        concurrency,
        queue: [],
        ended: new AbortController(),
        delivering: 0,
        overflowing: false,
      };
      subscriptions.add(subscription);
      return () => {
        subscription.queue.length = 0;
        subscription.ended.abort();
        subscriptions.delete(subscription);
        settle();
      };
    },
    settled: () =>
      isIdle()
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve);
          }),
  };
}
