/** Hosts the one shard of a single machine: run after run, slot after slot, until it is told to stop. */

import { sleep } from '../../shared/lib/clock.ts';
import { ensureLayout } from '../../shared/manager/claim.ts';
import type { Ports } from '../../shared/manager/ports.ts';
import { type RunView, runShard } from '../../shared/manager/run-shard.ts';
import type { ShardMessage } from '../../shared/queue/queue.ts';

/** How long a message is good for: LAYOUT and slots are the same on AWS. */
export const slotMs = 13 * 60_000;
/** After a run that ended in doubt. */
const pauseMs = 1_000;
const shard = '00';
const generation = 1;

export type ShardHost = {
  /** Resolves when the first run has loaded every target. */
  readonly loaded: Promise<void>;
  view(): RunView | undefined;
  stop(): Promise<void>;
};

export function hostShard(ports: Ports): ShardHost {
  const stop = new AbortController();
  const { promise: loaded, resolve: onFirstLoad } = Promise.withResolvers<void>();
  let view: (() => RunView) | undefined;

  async function host(): Promise<void> {
    await ensureLayout(ports.store, ports.random.uuid(), shard);
    while (!stop.signal.aborted) {
      const message = currentSlot(ports.clock.nowMs());
      const end = await runShard(ports, message, message.slotEndMs, {
        stop: stop.signal,
        onLoaded: (look) => {
          view = look;
          onFirstLoad();
        },
      });
      // From one slot to the next the shard is held all the time; the old view does until the new run has loaded.
      if (end.kind !== 'slotDone') view = undefined;
      // A timer may be a moment early by the wall clock, and a slot that is done is not begun again.
      const earlyMs = message.slotEndMs - ports.clock.nowMs();
      if (end.kind === 'slotDone') await sleep(ports.clock, Math.max(0, earlyMs), stop.signal);
      else if (end.kind !== 'stopped') await sleep(ports.clock, pauseMs, stop.signal);
    }
  }

  const hosting = host().catch((cause: unknown) => ports.log.error('the shard is not hosted any more', { cause }));
  return {
    loaded,
    view: () => view?.(),
    stop() {
      stop.abort();
      return hosting;
    },
  };
}

function currentSlot(nowMs: number): ShardMessage {
  const slot = Math.floor(nowMs / slotMs);
  return { shard, generation, buckets: { from: 0, to: 256 }, slot, slotEndMs: (slot + 1) * slotMs };
}
