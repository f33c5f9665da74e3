/** The checkpoints of a run: once a minute, and at its end. */
import { sleep } from '../lib/clock.ts';
import { StoreUnavailable } from '../store/store.ts';
import { checkpointEntries, checkpointIntervalMs, writeCheckpoints } from './checkpoint.ts';
import type { Holder } from './holder.ts';
import type { Loader } from './load.ts';

/** The checkpoints of this holder, of what it has loaded. A store out of reach is logged and costs run lengths only. */
export function checkpointer(holder: Holder, loader: Loader) {
  const { run } = holder;
  /** One write after the other: of two at a time the older one might reach the store last. */
  let written: Promise<void> = Promise.resolve();
  let isOver = false;
  const write = async (endsAtMs?: number) => {
    try {
      await writeCheckpoints(run, checkpointEntries(holder.targets.values(), endsAtMs), loader.loaded().written);
    } catch (error) {
      // What is not written costs run lengths, as a crash would: no reason to end a run that beats.
      if (!(error instanceof StoreUnavailable)) throw error;
      run.ports.log.warn('checkpoints not written', { shard: run.message.shard, cause: error });
    }
  };
  const keep = async () => {
    while (!isOver && !run.ended()) {
      await sleep(run.ports.clock, checkpointIntervalMs, run.signal);
      if (isOver || !run.inForce()) continue;
      written = write();
      await written;
    }
  };
  /** `endsAtMs`: see `checkpointEntries`. Only this one says what the next run owes, so none follows it. */
  const writeLast = async (endsAtMs?: number) => {
    isOver = true;
    await written;
    if (run.inForce()) await write(endsAtMs);
  };
  return { writeLast, keep };
}
