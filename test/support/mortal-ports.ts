/** Ports of a process that may be killed: then its timers do nothing, and what it asks for is never answered. */
import type { Bus } from '../../shared/bus/bus.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Store } from '../../shared/store/store.ts';

const never = <Answer>(): Promise<Answer> => new Promise(() => {});

export function mortalClock(clock: Clock, alive: () => boolean): Clock {
  return {
    ...clock,
    setTimer: (delayMs, callback) =>
      clock.setTimer(delayMs, () => {
        if (alive()) callback();
      }),
  };
}

export function mortalStore(store: Store, alive: () => boolean): Store {
  return {
    get: (key, options) => (alive() ? store.get(key, options) : never()),
    query: (query) => (alive() ? store.query(query) : never()),
    write: (operations, options) => (alive() ? store.write(operations, options) : never()),
  };
}

export const mortalBus = (bus: Bus, alive: () => boolean): Bus => ({
  publish: (events) => (alive() ? bus.publish(events) : never()),
});
