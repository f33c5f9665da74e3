/**
 * Detects whether the event loop was late while a probe waited. A process that is stopped, frozen, starved or busy
 * reads every answer after its time-out, and has itself caused that time-out. One ticker serves all probes; it ends
 * soon after the last one.
 *
 * A late loop voids the failures of the probes that it overlaps, whatever made it late. It counts against the health of
 * the prober only if the process stood still. A process that used the CPU, or waited for a core that others used, was
 * busy for longer than it should have been, and continues.
 */
import { isClockJump, isStall } from '../../core/self/health.ts';
import type { Clock } from '../../lib/clock.ts';

const tickMs = 50;
/**
 * If the process spent at least this share of a stall on the CPU, or waiting for it, it was busy. The smallest function
 * has 7 % of a core, and a process that stands still uses next to nothing.
 */
const atWorkShareMin = 0.05;
/** How long a stall is remembered, to see whether there were several. */
const recentMs = 10_000;

export type StallWatch = {
  /** Watches until the returned function is called. Several callers may watch at the same time. */
  watch(): () => void;
  /** Sets no timer any more, once the watches are over that are under way. */
  stop(): void;
  /** Whether the loop was late at any time since then (monotonic). */
  stalledSince(sinceMs: number): boolean;
  /** The same, but only if the process was not busy. */
  stoodStillSince(sinceMs: number): boolean;
  /** Number of stalls in the last 10 s during which the process stood still. */
  recent(): number;
};

/**
 * `cpuMs`: CPU time that the process has used or waited for. Absent: a late loop always counts as a process that stood
 * still.
 */
export function stallWatch(clock: Clock, cpuMs: () => number = () => 0): StallWatch {
  let watchers = 0;
  let isOver = false;
  let dueMs = Number.POSITIVE_INFINITY;
  let armedCpuMs = 0;
  let cancel = (): void => undefined;
  const seen = new SeenStalls();

  const arm = () => {
    dueMs = clock.monotonicMs() + tickMs;
    armedCpuMs = cpuMs();
    cancel = clock.setTimer(tickMs, tick);
  };
  /** A watch that ends leaves the ticker on until its next tick, because the next watch often begins before that. */
  const tick = () => {
    if (watchers === 0) return rest();
    note();
    arm();
  };
  const rest = () => {
    cancel();
    dueMs = Number.POSITIVE_INFINITY;
  };
  const note = () => {
    const nowMs = clock.monotonicMs();
    if (isStall(nowMs - dueMs)) seen.add(nowMs, stoodStill(nowMs));
  };
  const stoodStill = (nowMs: number) => cpuMs() - armedCpuMs < atWorkShareMin * (nowMs - dueMs + tickMs);
  /** After a pause, the timer of a probe may fire before the timer of this watch. */
  const isLate = () => isStall(clock.monotonicMs() - dueMs);
  const standsStill = () => isLate() && stoodStill(clock.monotonicMs());

  return {
    watch() {
      watchers += 1;
      // What held up a tick before this watch does not concern it.
      if (watchers === 1 && (dueMs === Number.POSITIVE_INFINITY || clock.monotonicMs() > dueMs)) {
        cancel();
        arm();
      }
      let watching = true;
      return () => {
        if (!watching) return;
        watching = false;
        watchers -= 1;
        if (watchers > 0) return;
        note();
        if (isOver) rest();
      };
    },
    stop() {
      isOver = true;
      if (watchers === 0) rest();
    },
    stalledSince: (sinceMs) => isLate() || seen.lastMs > sinceMs,
    stoodStillSince: (sinceMs) => standsStill() || seen.stoodMs > sinceMs,
    recent: () => seen.recent(clock.monotonicMs()) + (standsStill() ? 1 : 0),
  };
}

/** The stalls that ticks have noted. */
class SeenStalls {
  lastMs = Number.NEGATIVE_INFINITY;
  /** The last one during which the process stood still. */
  stoodMs = Number.NEGATIVE_INFINITY;
  #recent: readonly number[] = [];

  add(nowMs: number, stoodStill: boolean): void {
    this.lastMs = nowMs;
    if (!stoodStill) return;
    this.stoodMs = nowMs;
    this.#recent = [...this.#recent.filter((atMs) => nowMs - atMs < recentMs), nowMs];
  }

  recent(nowMs: number): number {
    return this.#recent.filter((atMs) => nowMs - atMs < recentMs).length;
  }
}

// Compares wall time with monotonic time to detect that the clock was set, so that times computed from it can be moved
// too.

export type WallTime = {
  /**
   * Wall time now, ms since the epoch. If it has jumped since the last look, `jumped` is called first with the
   * difference.
   */
  lookMs(jumped: (jumpMs: number) => void): number;
  /** How far wall time is ahead of monotonic time, without jumps since the last look. */
  offsetMs(): number;
};

/**
 * `keptOffsetMs`: the offset of an earlier watch whose instants are still in use. The first look detects a jump since
 * then.
 */
export function watchedWallTime(clock: Clock, keptOffsetMs?: number): WallTime {
  let offsetMs = firstOffsetMs(clock, keptOffsetMs);
  return {
    lookMs(jumped) {
      const nowMs = clock.nowMs();
      const jumpMs = nowMs - clock.monotonicMs() - offsetMs;
      if (isClockJump(jumpMs)) {
        offsetMs += jumpMs;
        jumped(jumpMs);
      }
      return nowMs;
    },
    offsetMs: () => offsetMs,
  };
}

/**
 * If the clock is now further ahead than before, the present offset applies: kept instants merely become due. The clock
 * need not have been set, because monotonic time may have stood still while a function was frozen.
 */
function firstOffsetMs(clock: Clock, keptOffsetMs: number | undefined): number {
  const offsetMs = clock.nowMs() - clock.monotonicMs();
  if (keptOffsetMs === undefined) return offsetMs;
  const jumpMs = offsetMs - keptOffsetMs;
  return jumpMs < 0 && isClockJump(jumpMs) ? keptOffsetMs : offsetMs;
}
