/**
 * The loop of a run: one heap of what is due and one alarm (timetable.ts). A worker that is due begins its cycle or
 * waits for a socket (flights.ts); a tick or trigger that its ticker holds while it is in flight is served right after.
 * Targets share the heap, because the holder is their timekeeper.
 */
import { lateAfterMs, type Overload } from '../../core/self/overload.ts';
import type { Run } from '../run.ts';
import { type Cycle, Flights, trackedWork, type Work } from './flights.ts';
import { Lateness, type LatenessCounts } from './lateness.ts';
import { newSocketBudget, type SocketBudget } from './sockets.ts';
import { type TendLanes, tendLanes } from './timekeeper.ts';
import { Timetable } from './timetable.ts';
import { type HeldTarget, Worker } from './worker.ts';

/** A failed look at a target is repeated after this time. */
const tendAgainMs = 2_000;

/** What a run does with what is due. */
export type Steps = {
  readonly cycle: Cycle;
  /** Looks at due targets of one bucket. */
  readonly tend: (due: readonly HeldTarget[]) => Promise<void>;
  /** Wall time moved by this much against monotonic time. Every instant that was set by it has to be set again. */
  readonly jumped: (jumpMs: number) => void;
};

export class DueLoop {
  readonly #run: Run;
  readonly #socketBudget: SocketBudget;
  readonly #timetable: Timetable;
  readonly #work: Work;
  readonly #lateness: Lateness;
  readonly #flights: Flights;
  readonly #lanes: TendLanes;
  #tendTargets: Steps['tend'] = async () => undefined;
  #isStopped = false;

  /**
   * `socketBudget`: the process's, if the process holds several shards. `keptOffsetMs`: the `wallOffsetMs` of the
   * previous loop, if this one continues with its tickers.
   */
  constructor(run: Run, socketBudget?: SocketBudget, keptOffsetMs?: number) {
    const { clock, log } = run.ports;
    this.#run = run;
    this.#socketBudget = socketBudget ?? newSocketBudget(clock);
    this.#timetable = new Timetable(run, keptOffsetMs);
    this.#work = trackedWork(log);
    this.#lateness = new Lateness(clock);
    this.#flights = new Flights(run, this.#timetable, this.#socketBudget, this.#lateness, this.#work);
    const isOver = () => this.#isStopped || run.ended() !== undefined;
    this.#lanes = tendLanes((due) => this.#tend(due), this.#work.track, isOver);
  }

  start({ cycle, tend, jumped }: Steps): void {
    this.#tendTargets = tend;
    this.#flights.start(cycle);
    this.#timetable.start(() => this.#ring(), jumped);
  }

  schedule(worker: Worker): void {
    this.#timetable.schedule(worker);
  }

  scheduleTarget(held: HeldTarget, dueMs: number): void {
    this.#timetable.scheduleTarget(held, dueMs);
  }

  /** The machine has refused a socket that is no probe's. */
  refused(code: string): void {
    this.#socketBudget.refused(code);
  }

  inFlight(): number {
    return this.#flights.count();
  }

  /**
   * An entry has been due for a while and has not begun, so the shard's observation time does not advance. Probes that
   * wait for a socket do not count, since the lateness of each is reported separately.
   */
  behind(): boolean {
    return this.#run.ports.clock.nowMs() - this.#timetable.nextDueMs() > lateAfterMs;
  }

  /** Whether there is more to do than can be done in time. Never in tick mode, where a run plans all of its probes. */
  overload(): Overload | undefined {
    if (this.#run.message.mode === 'tick') return undefined;
    const overload = this.#lateness.overload(() => {
      const lacksSockets = this.#flights.lacksSockets();
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
    return this.#work.isEmpty() && this.#timetable.nextDueMs() > this.#run.ports.clock.nowMs();
  }

  /** Begins nothing more. Resolves when nothing is in flight. */
  stopped(): Promise<void> {
    this.#isStopped = true;
    this.#flights.stop();
    this.#timetable.stop();
    return this.#work.over();
  }

  /** Makes the probes in flight pending and their reports void. */
  abandon(): void {
    this.#flights.abandon();
  }

  /** How far the wall time that the tickers use is ahead of monotonic time. */
  wallOffsetMs(): number {
    return this.#timetable.wallOffsetMs();
  }

  /** Begins what is due, as much as one turn of the event loop allows. */
  #ring(): void {
    const nowMs = this.#timetable.wallMs();
    const mayBegin = this.#flights.turn();
    for (let next = this.#timetable.due(nowMs); next; next = this.#timetable.due(nowMs)) {
      if (!mayBegin()) {
        this.#timetable.armAtOnce();
        break;
      }
      this.#timetable.remove(next);
      this.#begin(next, nowMs);
    }
    this.#lanes.begin();
    this.#timetable.arm();
  }

  #begin(next: HeldTarget | Worker, nowMs: number): void {
    if (this.#run.ended()) return;
    if (next instanceof Worker) {
      if (next.held.gone) return;
      this.#timetable.keepApart();
      this.#flights.begin(next, nowMs);
    } else if (!next.gone) this.#lanes.add(next);
  }

  /** Repeats a failed look soon, because no other process knows that something is open. */
  async #tend(due: readonly HeldTarget[]): Promise<void> {
    try {
      await this.#tendTargets(due);
    } catch (cause) {
      const againAtMs = this.#run.ports.clock.nowMs() + tendAgainMs;
      for (const held of due) this.scheduleTarget(held, againAtMs);
      throw cause;
    }
  }
}
