/** Publishes the events of a run in order. None is still pending when the run returns. */
import type { BusEvent, DetailType } from '../../bus/events.ts';
import type { Run } from '../run.ts';

export type Publisher = {
  /** Calls `settled` for each event with whether the bus took it, but not if the run ends before that. */
  publish(events: readonly BusEvent[], settled?: Settled): void;
  /** Resolves when nothing is under way, or soon after `drainMs`: a run has to end before its invocation does. */
  drained(): Promise<void>;
};

type Settled = (isTaken: boolean) => void;

type Waiting = { readonly event: BusEvent; readonly settled: Settled | undefined };

/** The next holder of the shard publishes what is not on the bus by then. */
const drainMs = 5_000;

/** If more events wait, some are dropped, first those whose loss costs least. */
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
        // A fenced run publishes nothing more. Its successor publishes what is not acked.
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
      // At once, not in a later microtask: an event published in between would wait for a pump that has ended.
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
 * What the loss of an event costs. The timekeeper publishes `repeated` events again until they are acked. A `recorded`
 * one is published once, but its EVENT item stays. Subscribers that miss a `doubt` believe every other event of the
 * shard.
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
  'Prober Overloaded': 'doubt',
  'Prober Caught Up': 'doubt',
  'Prober Release Refused': 'repeated',
  'Probe Surge Detected': 'doubt',
};

/**
 * Adds one event. If more than `waitingMax` would then wait, removes and returns one: the newest `repeated` event or,
 * if there is none, the newest `recorded` one, never a `doubt`.
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
