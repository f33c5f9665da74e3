/**
 * Removes expired items from the file in the background, as DynamoDB's TTL does. The time of removal does not matter.
 */
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Log } from '../../../shared/lib/log.ts';

/** The limit of one sweep. More items would delay other calls to the store. */
const sweepItemsMax = 1_000;
const sweepIntervalMs = 600_000;
/** After a sweep that reached the limit. */
const moreIntervalMs = 1_000;

export type SweepPorts = {
  readonly clock: Clock;
  readonly log: Log;
  /** Removes up to `limit` expired items; returns their number. */
  readonly sweep: (nowMs: number, limit: number) => number;
};

/** Sweeps until the returned function is called. If the store is unavailable, the next sweep retries. */
export function sweepRegularly({ clock, log, sweep }: SweepPorts): () => void {
  let cancel = clock.setTimer(sweepIntervalMs, again);
  function again() {
    const left = sweepOnce() === sweepItemsMax;
    cancel = clock.setTimer(left ? moreIntervalMs : sweepIntervalMs, again);
  }
  function sweepOnce(): number {
    try {
      return sweep(clock.nowMs(), sweepItemsMax);
    } catch (cause) {
      log.warn('expired items not removed', { cause });
      return 0;
    }
  }
  return () => cancel();
}
