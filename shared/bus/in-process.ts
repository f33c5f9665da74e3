/**
 * The bus within one process. It has EventBridge's patterns and guarantees: delivery is asynchronous, at least once to
 * each subscriber within bounded retries, and unordered between subscribers. Each subscriber has its own bounded queue,
 * so one that throws or is slow does not affect the others.
 */
import { type Clock, sleep } from '../lib/clock.ts';
import { Fifo } from '../lib/fifo.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { pacer } from '../lib/slices.ts';
import { type Bus, type EventEnvelope, envelopeJson, envelopeOf } from './bus.ts';
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
  /**
   * Events of one key ask for the same work, so one that comes while another of its key waits is dropped. undefined:
   * the event is delivered in any case.
   */
  readonly keyOf?: (event: EventEnvelope) => string | undefined;
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

/** Returns a bus for subscribers in this process. Its functions need no `this`. */
export function inProcessBus({ clock, random, log, queueMax = defaultQueueMax }: InProcessBusOptions): InProcessBus {
  const subscriptions = new Set<Subscription>();
  let waiting: (() => void)[] = [];

  const isIdle = () => [...subscriptions].every((each) => each.isIdle());
  const settle = () => {
    if (!isIdle()) return;
    const resolved = waiting;
    waiting = [];
    for (const resolve of resolved) resolve();
  };
  const ports: SubscriptionPorts = { clock, random, log, queueMax, settle };

  return {
    publish: async (events) => {
      for (const event of events) {
        const envelope = envelopeOf(event);
        for (const each of subscriptions) each.offer(envelope);
      }
      return { failed: [] };
    },
    subscribe: (pattern, subscriber, { name = 'subscriber', concurrency = 1, keyOf = noKey } = {}) => {
      const matches = compilePattern(pattern);
      const subscription = new Subscription({ name, matches, subscriber, concurrency, keyOf }, ports);
      subscriptions.add(subscription);
      return () => {
        subscription.end();
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

const noKey = () => undefined;

type SubscriptionSettings = {
  readonly name: string;
  readonly matches: Matches;
  readonly subscriber: Subscriber;
  readonly concurrency: number;
  readonly keyOf: (event: EventEnvelope) => string | undefined;
};

type Queued = { readonly event: EventEnvelope; readonly key: string | undefined };

type SubscriptionPorts = Required<InProcessBusOptions> & {
  /** Called when the subscription may have become idle. */
  readonly settle: () => void;
};

/** A subscriber with its queue. */
class Subscription {
  readonly #settings: SubscriptionSettings;
  readonly #ports: SubscriptionPorts;
  readonly #queue = new Fifo<Queued>();
  /** The keys of queued events. */
  readonly #keys = new Set<string>();
  readonly #ended = new AbortController();
  /** How many loops take events from the queue. */
  #delivering = 0;
  #isOverflowing = false;

  constructor(settings: SubscriptionSettings, ports: SubscriptionPorts) {
    this.#settings = settings;
    this.#ports = ports;
  }

  isIdle(): boolean {
    return this.#queue.length === 0 && this.#delivering === 0;
  }

  /** Queues the event if it matches, unless one of its key is queued or the queue is full. */
  offer(event: EventEnvelope): void {
    const { name, matches, concurrency, keyOf } = this.#settings;
    if (!matches(envelopeJson(event))) return;
    const key = keyOf(event);
    if (key !== undefined && this.#keys.has(key)) return;
    const { log, queueMax } = this.#ports;
    if (this.#queue.length >= queueMax) {
      if (!this.#isOverflowing) log.warn('events dropped: the subscriber is too slow', { subscriber: name, queueMax });
      this.#isOverflowing = true;
      return;
    }
    this.#queue.push({ event, key });
    if (key !== undefined) this.#keys.add(key);
    if (this.#delivering < concurrency) void this.#drain();
  }

  /** Drops the queued events and stops retrying. */
  end(): void {
    this.#queue.clear();
    this.#keys.clear();
    this.#ended.abort();
  }

  async #drain(): Promise<void> {
    this.#delivering += 1;
    // Delivery is always asynchronous, as over a network, so a publisher never runs a subscriber's code.
    await Promise.resolve();
    const pace = pacer(this.#ports.clock, sliceMs);
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      // Before it is delivered: this delivery may not see what an event is about that comes from now on.
      if (next.key !== undefined) this.#keys.delete(next.key);
      await pace();
      await this.#deliver(next.event);
    }
    this.#delivering -= 1;
    this.#isOverflowing = false;
    this.#ports.settle();
  }

  async #deliver(event: EventEnvelope): Promise<void> {
    const { clock, random } = this.#ports;
    for (let attempt = 1; attempt <= attemptsMax && !this.#ended.signal.aborted; attempt += 1) {
      try {
        await this.#settings.subscriber(structuredClone(event));
        return;
      } catch (error) {
        this.#warn(event, attempt, error);
        if (attempt === attemptsMax) return;
        await sleep(clock, firstRetryMs * 2 ** (attempt - 1) * (0.5 + random.next() / 2), this.#ended.signal);
      }
    }
  }

  #warn(event: EventEnvelope, attempt: number, error: unknown): void {
    const isLast = attempt === attemptsMax;
    this.#ports.log.warn(isLast ? 'event dropped: the subscriber keeps failing' : 'subscriber failed', {
      subscriber: this.#settings.name,
      eventId: event.id,
      attempt,
      error,
    });
  }
}
