/**
 * The bus of a simulated world: EventBridge's promises (at least once, unordered) and faults beyond them: refused
 * entries, lost answers, and dropped, doubled and late deliveries.
 */
import type { Bus } from '../../shared/bus/bus.ts';
import type { BusEvent } from '../../shared/bus/events.ts';
import type { Chance } from './chance.ts';
import type { Scheduler } from './clock.ts';
import type { Caller } from './process.ts';

export type BusFault =
  /** FailedEntryCount: the bus refused some entries of the call. */
  | { readonly kind: 'partial' }
  | { readonly kind: 'unreachable' }
  /** Taken, but the publisher does not learn it. */
  | { readonly kind: 'answerLost' };

export type DeliveryFault = { readonly kind: 'drop' | 'double' | 'late' };

export type BusFaults = {
  next(caller: Caller): BusFault | undefined;
  delivery(): DeliveryFault | undefined;
};

/** An event on the bus, and its publisher. */
export type Published = { readonly timeMs: number; readonly publisher: string; readonly event: BusEvent };

export type SimBus = {
  of(caller: Caller, publisher: string): Bus;
  subscribe(subscriber: (event: BusEvent) => void): void;
  /** Delivers an event that the product did not publish. */
  forge(event: BusEvent): void;
  onPublished(listener: (published: Published) => void): void;
};

export type BusPorts = { readonly scheduler: Scheduler; readonly chance: Chance; readonly faults: BusFaults };

export function simBus({ scheduler, chance, faults }: BusPorts): SimBus {
  const subscribers: ((event: BusEvent) => void)[] = [];
  const listeners: ((published: Published) => void)[] = [];

  const deliverLater = (event: BusEvent, subscriber: (event: BusEvent) => void, meanMs: number) =>
    scheduler.after(chance.wait(meanMs), {
      label: `${event.detailType} ${event.detail.id}`,
      deliver: () => subscriber(event),
    });

  const deliver = (event: BusEvent) => {
    for (const subscriber of subscribers) {
      const fault = faults.delivery()?.kind;
      if (fault === 'drop') continue;
      deliverLater(event, subscriber, fault === 'late' ? 60_000 : 150);
      if (fault === 'double') deliverLater(event, subscriber, chance.pick([100, 10_000]));
    }
  };

  const take = (event: BusEvent, publisher: string) => {
    for (const listener of listeners) listener({ timeMs: scheduler.nowMs(), publisher, event });
    deliver(event);
  };

  return {
    of: (caller, publisher) => ({
      publish: (events) =>
        caller.call(events.length === 1 ? `publish ${events[0]?.detailType}` : 'publish several', (reply) => {
          const fault = faults.next(caller)?.kind;
          const all = events.map((_, index) => index);
          const failed = fault === 'partial' ? all.filter(() => chance.happens(0.5)) : fault ? all : [];
          const ms = fault ? chance.between(500, 3_000) : chance.between(5, 60);
          reply(ms, () => {
            if (fault !== 'unreachable')
              for (const [index, event] of events.entries())
                if (fault === 'answerLost' || !failed.includes(index)) take(event, publisher);
            return { failed };
          });
        }),
    }),
    subscribe: (subscriber) => void subscribers.push(subscriber),
    forge: deliver,
    onPublished: (listener) => void listeners.push(listener),
  };
}
