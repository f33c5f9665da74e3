/** When which worker is due, and when the timekeeper looks at which target: one heap, one alarm, one wall clock. */
import { alarmOf } from '../../lib/alarm.ts';
import { DueHeap } from '../../lib/heap.ts';
import type { Run } from '../run.ts';
import { type WallTime, watchedWallTime } from '../self-check/stall.ts';
import type { HeldTarget, Worker } from './worker.ts';

export class Timetable {
  readonly #run: Run;
  readonly #heap = new DueHeap<HeldTarget | Worker>();
  readonly #wallTime: WallTime;
  readonly #alarm: ReturnType<typeof alarmOf>;
  #ring = (): void => undefined;
  #jumped: ((jumpMs: number) => void) | undefined;
  #isStopped = false;

  /** `keptOffsetMs`: the `wallOffsetMs` of an earlier timetable, if this one continues with its tickers. */
  constructor(run: Run, keptOffsetMs: number | undefined) {
    this.#run = run;
    this.#wallTime = watchedWallTime(run.ports.clock, keptOffsetMs);
    this.#alarm = alarmOf(run.ports.clock, () => this.#ring());
  }

  /**
   * From now on `ring` is called when something is due. `jumped`: wall time moved by this much against monotonic time;
   * every instant that was set by it has to be set again.
   */
  start(ring: () => void, jumped: (jumpMs: number) => void): void {
    this.#ring = ring;
    this.#jumped = jumped;
    this.arm();
  }

  stop(): void {
    this.#isStopped = true;
    this.#alarm.cancel();
  }

  /** For the next tick of its ticker, unless the worker is in flight: it is scheduled once it has landed. */
  schedule(worker: Worker): void {
    if (worker.inFlight || this.#isStopped || !worker.isHeld()) return;
    const nowMs = this.wallMs();
    const dueMs = worker.arm(nowMs);
    if (dueMs < Number.POSITIVE_INFINITY) this.#set(worker, dueMs, nowMs);
    else this.#heap.delete(worker);
  }

  scheduleTarget(held: HeldTarget, dueMs: number): void {
    if (!held.gone && !this.#isStopped) this.#set(held, dueMs, this.#run.ports.clock.nowMs());
  }

  /** What has been due for longest by this wall time. It stays until it is removed. */
  due(nowMs: number): HeldTarget | Worker | undefined {
    const next = this.#heap.peek();
    return next && next.dueMs <= nowMs && !this.#isStopped ? next : undefined;
  }

  remove(item: HeldTarget | Worker): void {
    this.#heap.delete(item);
  }

  nextDueMs(): number {
    return this.#heap.peek()?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  /** Sets the alarm to what is due next. */
  arm(): void {
    const next = this.#heap.peek();
    if (next && !this.#isStopped && this.#jumped) this.#alarm.set(next.dueMs);
  }

  armAtOnce(): void {
    this.#alarm.setAtOnce();
  }

  /** A probe begins: what becomes due from now on begins a little later, together. */
  keepApart(): void {
    this.#alarm.keepApart();
  }

  /**
   * Wall time now. Looks for jumps only after the start. The first look finds an earlier jump too, because tickers
   * loaded before that jump use the old time.
   */
  wallMs(): number {
    return this.#jumped ? this.#wallTime.lookMs(this.#jumped) : this.#run.ports.clock.nowMs();
  }

  /** How far the wall time that the tickers use is ahead of monotonic time. */
  wallOffsetMs(): number {
    return this.#wallTime.offsetMs();
  }

  #set(item: HeldTarget | Worker, dueMs: number, nowMs: number): void {
    this.#heap.set(item, dueMs);
    if (dueMs > nowMs) this.arm();
    else if (this.#jumped) this.#alarm.setAtOnce();
  }
}
