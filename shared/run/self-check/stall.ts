/**
 * Whether the event loop was late while a probe waited: a process that is stopped, frozen, starved or busy reads every answer after its
 * time-out, and the time-out was its own. One ticker for all probes, which runs only while any of them is in flight.
 *
 * A late loop voids the failures of the probes that it overlaps, whatever made it late. It is a sign of an unsound prober only if the process
 * stood still: one that used the CPU was at work of its own, for longer than it should have, and goes on.
 */
import { isStall } from '../../core/self-health.ts';
import type { Clock } from '../../lib/clock.ts';

const tickMs = 50;
/**
 * Share of a stall that the process spent on the CPU, from which on it was at work. The smallest function has 7 % of a core, and a process that
 * stands still has next to nothing.
 */
const atWorkShareMin = 0.05;
/** How long a stall is remembered, for whether there were several. */
const recentMs = 10_000;

export type StallWatch = {
  /** Watches until the returned function is called; several may watch at the same time. */
  watch(): () => void;
  /** Did the loop stand still at any time since then (monotonic)? */
  stalledSince(sinceMs: number): boolean;
  /** The same, of a process that was not at work. */
  stoodStillSince(sinceMs: number): boolean;
  /** Stalls of the last 10 s in which the process stood still. */
  recent(): number;
};

/** `cpuMs`: CPU time that the process has used; absent: a late loop always counts as one that stood still. */
export function stallWatch(clock: Clock, cpuMs: () => number = () => 0): StallWatch {
  let watchers = 0;
  let dueMs = Number.POSITIVE_INFINITY;
  let armedCpuMs = 0;
  let cancel = (): void => undefined;
  let stalls: readonly number[] = [];
  let lastMs = Number.NEGATIVE_INFINITY;
  let stoodMs = Number.NEGATIVE_INFINITY;

  const arm = () => {
    dueMs = clock.monotonicMs() + tickMs;
    armedCpuMs = cpuMs();
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
    if (!stoodStill(nowMs)) return;
    stoodMs = nowMs;
    stalls = [...stalls.filter((atMs) => nowMs - atMs < recentMs), nowMs];
  };
  const stoodStill = (nowMs: number) => cpuMs() - armedCpuMs < atWorkShareMin * (nowMs - dueMs + tickMs);
  /** After a pause a probe's own timer may come before this one's. */
  const isLate = () => isStall(clock.monotonicMs() - dueMs);
  const standsStill = () => isLate() && stoodStill(clock.monotonicMs());

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
    stoodStillSince: (sinceMs) => standsStill() || stoodMs > sinceMs,
    recent() {
      const nowMs = clock.monotonicMs();
      return stalls.filter((atMs) => nowMs - atMs < recentMs).length + (standsStill() ? 1 : 0);
    },
  };
}
