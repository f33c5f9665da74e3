/**
 * The loop of a run: one heap of due entries and one timer. A probe is in flight at most once; a tick or trigger that
 * its ticker holds meanwhile is served right after. Targets share the heap, because the holder is their timekeeper.
 */
import { lateAfterMs, type Overload } from '../../core/self/overload.ts';
import { alarmOf } from '../../lib/alarm.ts';
import { DueHeap } from '../../lib/heap.ts';
import type { Run } from '../run.ts';
import { watchedWallTime } from '../self-check/stall.ts';
import { ProbesInFlight, trackedWork, type Work } from './flights.ts';
import { type HeldProbe, type HeldTarget, type Turn, turnOf } from './held.ts';
import { Lateness, type LatenessCounts } from './lateness.ts';
import { arm as armProbe } from './probe-schedule.ts';
import { newSocketBudget, type Place, type SocketBudget } from './sockets.ts';
import { type TendLanes, tendLanes } from './timekeeper.ts';

/** A failed look at a target is repeated after this time. */
const tendAgainMs = 2_000;

/**
 * `again`: the cycle released its place to wait for a commit and still has to probe, so it starts over. `refused`: this
 * machine refused what the probe needed, so the probe is late.
 */
export type CycleEnd = 'over' | 'again' | 'refused';

export type Steps = {
  readonly cycle: (held: HeldTarget, probe: HeldProbe, place: Place) => Promise<CycleEnd>;
  /** Looks at due targets of one bucket. */
  readonly tend: (due: readonly HeldTarget[]) => Promise<void>;
  /** Wall time moved by this much against monotonic time. Every instant that was set by it has to be set again. */
  readonly jumped: (jumpMs: number) => void;
};

/** The loop as its run uses it. */
export type Loop = Pick<DueLoop, keyof DueLoop>;

/**
 * `socketBudget`: the process's, if the process holds several shards. `keptOffsetMs`: the `wallOffsetMs` of the
 * previous loop, if this one continues with its tickers.
 */
export const startLoop = (run: Run, socketBudget?: SocketBudget, keptOffsetMs?: number): Loop =>
  new DueLoop(run, socketBudget ?? newSocketBudget(run.ports.clock), keptOffsetMs);

class DueLoop {
  readonly #run: Run;
  readonly #socketBudget: SocketBudget;
  readonly #heap = new DueHeap<Turn>();
  readonly #wallTime: ReturnType<typeof watchedWallTime>;
  readonly #work: Work;
  readonly #alarm: ReturnType<typeof alarmOf>;
  readonly #lateness: Lateness;
  readonly #probes: ProbesInFlight;
  readonly #lanes: TendLanes;
  #steps: Steps | undefined;
  #stopping = false;

  constructor(run: Run, socketBudget: SocketBudget, keptOffsetMs: number | undefined) {
    const { clock, log } = run.ports;
    this.#run = run;
    this.#socketBudget = socketBudget;
    this.#wallTime = watchedWallTime(clock, keptOffsetMs);
    this.#work = trackedWork(log);
    this.#alarm = alarmOf(clock, () => this.#ring());
    const { track } = this.#work;
    this.#lateness = new Lateness(clock);
    const isOver = () => this.#stopping || run.ended() !== undefined;
    this.#probes = new ProbesInFlight({
      run,
      socketBudget,
      lateness: this.#lateness,
      track,
      isOver,
      cycle: (held, probe, place) => this.#steps?.cycle(held, probe, place) ?? nothingToDo,
      schedule: (held, probe) => this.schedule(held, probe),
      wallMs: () => this.#wallMs(),
    });
    this.#lanes = tendLanes({ tend: (due) => this.#tend(due), track, isOver });
  }

  start(steps: Steps): void {
    this.#steps = steps;
    this.#probes.letInOnFree();
    this.#arm();
  }

  schedule(held: HeldTarget, probe: HeldProbe): void {
    if (held.gone || probe.schedule.inFlight || this.#stopping || held.probes.get(probe.name) !== probe) return;
    const nowMs = this.#wallMs();
    const at = armProbe(probe.schedule, nowMs);
    if (at < Number.POSITIVE_INFINITY) this.#set(turnOf(held, probe), at, nowMs);
    else this.#heap.delete(turnOf(held, probe));
  }

  scheduleTarget(held: HeldTarget, at: number): void {
    if (held.gone || this.#stopping) return;
    this.#set(turnOf(held), at, this.#run.ports.clock.nowMs());
  }

  /** The machine has refused a socket that is no probe's. */
  refused(code: string): void {
    this.#socketBudget.refused(code);
  }

  inFlight(): number {
    return this.#probes.count();
  }

  /**
   * An entry has been due for a while and has not begun, so the shard's observation time does not advance. Probes that
   * wait for a socket do not count, since the lateness of each is reported separately.
   */
  behind(): boolean {
    return this.#run.ports.clock.nowMs() - this.#nextDueMs() > lateAfterMs;
  }

  /** Whether there is more to do than can be done in time. Never in tick mode, where a run plans all of its probes. */
  overload(): Overload | undefined {
    if (this.#run.message.mode === 'tick') return undefined;
    const overload = this.#lateness.overload(() => {
      const lacksSockets = this.#probes.lacksSockets();
      return { isLateNow: lacksSockets || this.behind(), reason: lacksSockets ? 'Sockets' : 'Cpu' };
    });
    const socketsMax = this.#socketBudget.lowered();
    return overload && socketsMax !== undefined ? { ...overload, socketsMax } : overload;
  }

  /** The run before was overloaded. */
  inheritOverload(): void {
    this.#lateness.inherit();
  }

  lateness(): LatenessCounts {
    return this.#lateness.counts();
  }

  /** Nothing is under way and nothing is due. */
  isQuiet(): boolean {
    return this.#work.isEmpty() && this.#nextDueMs() > this.#run.ports.clock.nowMs();
  }

  /** Begins nothing more. Resolves when nothing is in flight. */
  stopped(): Promise<void> {
    this.#stopping = true;
    this.#probes.stop();
    this.#alarm.cancel();
    return this.#work.over();
  }

  /** Makes the probes in flight pending and their reports void. */
  abandon(): void {
    this.#probes.abandon();
  }

  /** How far the wall time that the tickers use is ahead of monotonic time. */
  wallOffsetMs(): number {
    return this.#wallTime.offsetMs();
  }

  /**
   * Looks for jumps only after the start. The first look finds an earlier jump too, because tickers loaded before that
   * jump use the old time.
   */
  #wallMs(): number {
    return this.#steps ? this.#wallTime.lookMs(this.#steps.jumped) : this.#run.ports.clock.nowMs();
  }

  #nextDueMs(): number {
    return this.#heap.peek()?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  /** Begins due entries, as many as one turn of the event loop allows. */
  #ring(): void {
    const nowMs = this.#wallMs();
    const mayBegin = this.#probes.turn();
    for (let next = this.#heap.peek(); next && next.dueMs <= nowMs && !this.#stopping; next = this.#heap.peek()) {
      if (!mayBegin()) {
        this.#alarm.setAtOnce();
        break;
      }
      this.#heap.delete(next);
      this.#begin(next, nowMs);
    }
    this.#lanes.begin();
    this.#arm();
  }

  #begin({ held, probe }: Turn, nowMs: number): void {
    if (held.gone || this.#run.ended()) return;
    if (probe === undefined) {
      this.#lanes.add(held);
      return;
    }
    this.#alarm.keepApart();
    this.#probes.begin(held, probe, nowMs);
  }

  #set(turn: Turn, at: number, nowMs: number): void {
    this.#heap.set(turn, at);
    if (at > nowMs) this.#arm();
    else if (this.#steps) this.#alarm.setAtOnce();
  }

  #arm(): void {
    const next = this.#heap.peek();
    if (next && !this.#stopping && this.#steps) this.#alarm.set(next.dueMs);
  }

  /** Repeats a failed look soon, because no other process knows that something is open. */
  async #tend(due: readonly HeldTarget[]): Promise<void> {
    try {
      await this.#steps?.tend(due);
    } catch (cause) {
      const againAtMs = this.#run.ports.clock.nowMs() + tendAgainMs;
      for (const held of due) this.scheduleTarget(held, againAtMs);
      throw cause;
    }
  }
}

const nothingToDo: Promise<CycleEnd> = Promise.resolve('over');
