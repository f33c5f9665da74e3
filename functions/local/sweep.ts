/** Expired items leave the file as they leave the table on AWS: in the background, and no matter when. */
import type { Clock } from '../../shared/lib/clock.ts';
import type { Log } from '../../shared/lib/log.ts';

/** Expired items that one sweep removes: more would hold up what else wants the store. */
const sweepItemsMax = 1_000;
const sweepIntervalMs = 600_000;
/** After a sweep that left some. */
const moreIntervalMs = 1_000;

export type SweepPorts = {
  readonly clock: Clock;
  readonly log: Log;
  /** Removes at most `limit` expired items; returns how many. */
  readonly sweep: (nowMs: number, limit: number) => number;
};

/** Sweeps until the returned function is called. A store that is out of reach is tried again the next time. */
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
