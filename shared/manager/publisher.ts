/** Events of a run on their way to the bus, in order, none left pending when the run returns. */
import type { BusEvent } from '../bus/events.ts';
import type { Run } from './run.ts';

export type Publisher = {
  /** `settled`: for each of them, whether the bus took it; not called when the run is over before. */
  publish(events: readonly BusEvent[], settled?: Settled): void;
  /** Ends with what is under way, or when there has been time enough: a run has to be over when its invocation is. */
  drained(): Promise<void>;
};

type Settled = (isTaken: boolean) => void;

type Waiting = { readonly event: BusEvent; readonly settled: Settled | undefined };

/** What is not on the bus by then is published by whoever holds the shard next. */
const drainMs = 5_000;

/** Events beyond this wait for the republication of what is not acked. */
const waitingMax = 10_000;

export function publisherOf(run: Run): Publisher {
  const { bus, log, clock } = run.ports;
  const over = new AbortController();
  let waiting: readonly Waiting[] = [];
  let pumping: Promise<void> | undefined;

  async function pump(): Promise<void> {
    let batch: readonly Waiting[] = [];
    try {
      while (waiting.length > 0) {
        batch = waiting;
        waiting = [];
        // A fenced run tells nothing more; its successor publishes what is not acked.
        run.inForce();
        if (run.ended()?.kind === 'fenced' || run.ended()?.kind === 'doubt') return;
        const { failed } = await bus.publish(
          batch.map(({ event }) => event),
          { signal: over.signal },
        );
        if (failed.length > 0) log.warn('events not taken by the bus', { count: failed.length });
        const refused = new Set(failed);
        tell(batch, (at) => !refused.has(at));
      }
    } catch (cause) {
      log.error('publishing failed', { cause });
      tell(batch, () => false);
    } finally {
      // At once, not in a later microtask: what is published in between would find a pump that looks no more.
      pumping = undefined;
    }
  }

  return {
    publish(events, settled) {
      if (events.length === 0) return;
      const all = [...waiting, ...events.map((event) => ({ event, settled }))];
      waiting = all.slice(0, waitingMax);
      tell(all.slice(waitingMax), () => false);
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

function tell(batch: readonly Waiting[], isTaken: (at: number) => boolean): void {
  for (const [at, { settled }] of batch.entries()) settled?.(isTaken(at));
}
