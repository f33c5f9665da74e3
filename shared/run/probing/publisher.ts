/** Events of a run on their way to the bus, in order, none left pending when the run returns. */
import type { BusEvent, DetailType } from '../../bus/events.ts';
import type { Run } from '../run.ts';

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

/** Events beyond this are dropped, by what their loss costs. */
const waitingMax = 10_000;

export function publisherOf(run: Run): Publisher {
  const { bus, log, clock } = run.ports;
  const over = new AbortController();
  let waiting: Waiting[] = [];
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
        const { failed, denied } = await bus.publish(
          batch.map(({ event }) => event),
          { signal: over.signal },
        );
        if (failed.length > 0 && !denied) log.warn('events not taken by the bus', { count: failed.length });
        const refused = new Set(failed);
        settle(batch, (at) => !refused.has(at));
      }
    } catch (cause) {
      log.error('publishing failed', { cause });
      settle(batch, () => false);
    } finally {
      // At once, not in a later microtask: what is published in between would find a pump that looks no more.
      pumping = undefined;
    }
  }

  return {
    publish(events, settled) {
      if (events.length === 0) return;
      const dropped = events.flatMap((event) => added(waiting, { event, settled }) ?? []);
      if (dropped.length > 0) log.warn('events dropped: too many wait for the bus', { count: dropped.length });
      settle(dropped, () => false);
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

function settle(batch: readonly Waiting[], isTaken: (at: number) => boolean): void {
  for (const [at, { settled }] of batch.entries()) settled?.(isTaken(at));
}

/**
 * What the loss of an event costs. The timekeeper publishes `repeated` events again until they are acked. A `recorded` one is published
 * once, but its EVENT item stays. Subscribers that miss a `doubt` believe every other event of the shard.
 */
const worth: { readonly [detailType in DetailType]: 'repeated' | 'recorded' | 'doubt' } = {
  'Probe Result Changed': 'repeated',
  'Target Sync Requested': 'repeated',
  'Target Status Changed': 'repeated',
  'Container Restart Requested': 'repeated',
  'Container Recovered': 'repeated',
  'Container Unhealthy': 'recorded',
  'Container Probe Warning': 'recorded',
  'Prober Degraded': 'doubt',
  'Prober Recovered': 'doubt',
  'Probe Surge Detected': 'doubt',
};

/**
 * Adds one. Returns what goes for it where more than `waitingMax` would wait: the newest of what is repeated anyway, or else the newest that
 * is recorded, never a doubt.
 */
function added(waiting: Waiting[], one: Waiting): Waiting | undefined {
  waiting.push(one);
  if (waiting.length <= waitingMax) return undefined;
  for (const kind of ['repeated', 'recorded'] as const) {
    const at = waiting.findLastIndex(({ event }) => worth[event.detailType] === kind);
    if (at >= 0) return waiting.splice(at, 1)[0];
  }
  return undefined;
}
