/** Events of a run on their way to the bus, in order, none left pending when the run returns. */
import type { BusEvent } from '../bus/events.ts';
import type { Run } from './run.ts';

export type Publisher = {
  publish(events: readonly BusEvent[]): void;
  /** Ends with what is under way, or when there has been time enough: a run has to be over when its invocation is. */
  drained(): Promise<void>;
};

/** What is not on the bus by then is published by whoever holds the shard next. */
const drainMs = 5_000;

/** Events beyond this wait for the republication of what is not acked. */
const waitingMax = 10_000;

export function publisherOf(run: Run): Publisher {
  const { bus, log, clock } = run.ports;
  const over = new AbortController();
  let waiting: readonly BusEvent[] = [];
  let pumping: Promise<void> | undefined;

  async function pump(): Promise<void> {
    try {
      while (waiting.length > 0) {
        const batch = waiting;
        waiting = [];
        // A fenced run tells nothing more; its successor publishes what is not acked.
        run.inForce();
        if (run.ended()?.kind === 'fenced' || run.ended()?.kind === 'doubt') return;
        const { failed } = await bus.publish(batch, { signal: over.signal });
        if (failed.length > 0) log.warn('events not taken by the bus', { count: failed.length });
      }
    } catch (cause) {
      log.error('publishing failed', { cause });
    } finally {
      // At once, not in a later microtask: what is published in between would find a pump that looks no more.
      pumping = undefined;
    }
  }

  return {
    publish(events) {
      if (events.length === 0) return;
      waiting = [...waiting, ...events].slice(0, waitingMax);
      pumping ??= Promise.resolve().then(pump);
    },
    async drained() {
      if (pumping === undefined) return;
      const cancel = clock.setTimer(drainMs, () => over.abort());
      while (pumping !== undefined) await pumping;
      cancel();
    },
  };
}
