/**
 * Whether the event loop stood still while a probe waited: a process that is stopped, frozen or starved reads every answer after its
 * time-out, and the time-out was its own. One ticker for all probes, which runs only while any of them is in flight.
 */
import { isStall } from '../core/self-health.ts';
import type { Clock } from '../lib/clock.ts';

const tickMs = 50;
/** How long a stall is remembered, for whether there were several. */
const recentMs = 10_000;

export type StallWatch = {
  /** Watches until the returned function is called; several may watch at the same time. */
  watch(): () => void;
  /** Did the loop stand still at any time since then (monotonic)? */
  stalledSince(sinceMs: number): boolean;
  /** Stalls of the last 10 s. */
  recent(): number;
};

export function stallWatch(clock: Clock): StallWatch {
  let watchers = 0;
  let dueMs = Number.POSITIVE_INFINITY;
  let cancel = (): void => undefined;
  let stalls: readonly number[] = [];
  let lastMs = Number.NEGATIVE_INFINITY;

  const arm = () => {
    dueMs = clock.monotonicMs() + tickMs;
    cancel = clock.setTimer(tickMs, tick);
  };
  const tick = () => {
    note();
    arm();
  };
  const note = () => {
    const nowMs = clock.monotonicMs();
    if (!isStall(nowMs - dueMs)) return;
    lastMs = nowMs;
    stalls = [...stalls.filter((atMs) => nowMs - atMs < recentMs), nowMs];
  };
  /** After a pause a probe's own timer may come before this one's. */
  const isLate = () => isStall(clock.monotonicMs() - dueMs);

  return {
    watch() {
      watchers += 1;
      if (watchers === 1) arm();
      let watching = true;
      return () => {
        if (!watching) return;
        watching = false;
        watchers -= 1;
        if (watchers > 0) return;
        note();
        cancel();
        dueMs = Number.POSITIVE_INFINITY;
      };
    },
    stalledSince: (sinceMs) => isLate() || lastMs > sinceMs,
    recent: () => stalls.filter((atMs) => clock.monotonicMs() - atMs < recentMs).length + (isLate() ? 1 : 0),
  };
}
