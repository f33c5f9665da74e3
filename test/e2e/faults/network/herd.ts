/** How many probes come at once, as the targets see them, on a machine that may be busy. */
import { sleep, systemClock } from '../../../../shared/lib/clock.ts';
import { waitedForProcessorMs } from '../../../support/processor-wait.ts';
import type { Asked } from './beyond.ts';

/** A span in which the prober or the targets stood still for `lostMs`, because the machine ran something else. */
export type Lost = { readonly fromMs: number; readonly toMs: number; readonly lostMs: number };

const secondMs = 1_000;

/**
 * In any second in which the machine ran them, wherever it begins: what was due while one of them stood still comes
 * right afterwards, so the time that was lost within such a second, or just before it, lengthens it.
 */
export function mostPerSecond(timesMs: Asked, lost: readonly Lost[]): number {
  const sorted = [...timesMs].sort((a, b) => a - b);
  let from = 0;
  return sorted.reduce((most, atMs, at) => {
    while ((sorted[from] ?? atMs) <= atMs - secondMs) from += 1;
    const ranMs = secondMs + lostBetween(lost, (sorted[from] ?? atMs) - secondMs, atMs);
    return Math.max(most, ((at - from + 1) * secondMs) / ranMs);
  }, 0);
}

const lostBetween = (lost: readonly Lost[], fromMs: number, toMs: number): number =>
  lost.filter((span) => span.toMs > fromMs && span.fromMs < toMs).reduce((sum, { lostMs }) => sum + lostMs, 0);

const watchEveryMs = 100;

/** Watches processes until `stop`, and itself: what stops the whole machine stops the watcher too. */
export function watchLost(pids: readonly number[]): { stop(): Promise<readonly Lost[]> } {
  const over = new AbortController();
  const lost: Lost[] = [];
  const waited = () => pids.reduce((sum, pid) => sum + waitedForProcessorMs(pid), 0);
  const watch = async () => {
    let [fromMs, waitedMs] = [Date.now(), waited()];
    while (!over.signal.aborted) {
      await sleep(systemClock, watchEveryMs, over.signal);
      const [toMs, nowWaitedMs] = [Date.now(), waited()];
      const lateMs = Math.max(0, toMs - fromMs - watchEveryMs);
      lost.push({ fromMs, toMs, lostMs: Math.max(lateMs, nowWaitedMs - waitedMs) });
      [fromMs, waitedMs] = [toMs, nowWaitedMs];
    }
    return lost;
  };
  const watched = watch();
  return {
    stop() {
      over.abort();
      return watched;
    },
  };
}
