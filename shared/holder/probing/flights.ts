/**
 * The probes of a run that are in flight, and those that are due and wait for a socket. A probe is in flight at most
 * once.
 */
import { type BacklogClass, descriptorsOf, servedInOrder } from '../../core/self/sockets.ts';
import { Bag } from '../../lib/bag.ts';
import type { Log } from '../../lib/log.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { Run } from '../run.ts';
import type { Lateness } from './lateness.ts';
import type { Place, SocketBudget } from './sockets.ts';
import type { Timetable } from './timetable.ts';
import type { CycleEnd, Worker } from './worker.ts';

/**
 * Probes that may begin in one turn of the event loop. After a restart hundreds are due at once, and while they begin,
 * the process does not read the answers to those that have begun. The limit is a number of probes, not a duration,
 * because most of the cost of beginning a probe arises after the code of the turn, where no clock measures it.
 */
const beginsPerTurnMax = 8;
/** Pause before a probe is tried again that this machine has refused. */
const retryMs = 500;

export type Cycle = (worker: Worker, place: Place) => Promise<CycleEnd>;

export class Flights {
  readonly #run: Run;
  readonly #isTick: boolean;
  readonly #timetable: Timetable;
  readonly #socketBudget: SocketBudget;
  readonly #lateness: Lateness;
  readonly #work: Work;
  readonly #lines: WaitingLines;
  readonly #probing = new Bag<Worker>();
  #cycle: Cycle = () => nothingToDo;
  #leaveBudget = (): void => undefined;
  #cancelLetIn: (() => void) | undefined;
  /** Probes that this machine has refused; a pause later they wait for a socket. */
  #refused: Worker[] = [];
  #cancelRetry: (() => void) | undefined;
  #isStopped = false;

  constructor(run: Run, timetable: Timetable, socketBudget: SocketBudget, lateness: Lateness, work: Work) {
    this.#run = run;
    this.#isTick = run.message.mode === 'tick';
    this.#timetable = timetable;
    this.#socketBudget = socketBudget;
    this.#lateness = lateness;
    this.#work = work;
    this.#lines = waitingLines(socketBudget);
  }

  start(cycle: Cycle): void {
    this.#cycle = cycle;
    this.#leaveBudget = this.#socketBudget.onFree(() => this.#armLetIn());
  }

  /** Starts the probe, or makes it wait for a socket. */
  begin(worker: Worker, nowMs: number): void {
    if (worker.inFlight) return;
    const fitsBudget = this.#socketBudget.hasFor(worker.backlogClass, descriptorsOf(worker.spec.probe));
    if (fitsBudget && !this.#lines.hasBefore(worker.backlogClass)) {
      this.#start(worker, nowMs);
      return;
    }
    worker.postpone();
    this.#lines.join(worker);
    if (fitsBudget) this.#armLetIn();
  }

  /** Returns a function that says whether one more probe may begin in this turn of the event loop. */
  turn(): () => boolean {
    const inFlightMax = this.#probing.size + beginsPerTurnMax;
    return () => this.#probing.size < inFlightMax;
  }

  count(): number {
    return this.#probing.size;
  }

  /** No waiting probe gets a socket, or this machine has just refused one. */
  lacksSockets(): boolean {
    return this.#refused.length > 0 || (!this.#lines.isEmpty() && this.#lines.next() === undefined);
  }

  /** Begins nothing more. */
  stop(): void {
    this.#isStopped = true;
    this.#leaveBudget();
    this.#cancelLetIn?.();
    this.#cancelRetry?.();
  }

  /** Each probe in flight has to run again, and its report is void. */
  abandon(): void {
    for (const worker of this.#probing.items()) worker.abandon();
  }

  #start(worker: Worker, nowMs: number): void {
    // A probe that has waited for a socket is late since it was due first.
    const { dueMs } = worker;
    if (!worker.begin(nowMs, this.#isTick)) {
      this.#timetable.schedule(worker);
      return;
    }
    this.#lines.leave(worker);
    this.#lateness.began(nowMs - dueMs);
    const place = this.#socketBudget.take(worker.backlogClass, descriptorsOf(worker.spec.probe));
    this.#probing.add(worker);
    this.#work.track(this.#fly(worker, place));
  }

  async #fly(worker: Worker, place: Place): Promise<void> {
    let end: CycleEnd = 'over';
    try {
      end = await this.#cycle(worker, place);
      if (end !== 'over') worker.repeat();
    } finally {
      worker.land();
      this.#probing.delete(worker);
      // Also after a cycle that threw, so that the worker continues.
      if (end === 'refused') this.#putBack(worker);
      else this.#timetable.schedule(worker);
      place.leave();
    }
  }

  /** Puts the probe back without setting its due time again: it is late since it was due first. */
  #putBack(worker: Worker): void {
    if (this.#isOver()) return;
    this.#refused.push(worker);
    this.#cancelRetry ??= this.#run.ports.clock.setTimer(retryMs, () => {
      this.#cancelRetry = undefined;
      for (const each of this.#refused) this.#lines.join(each);
      this.#refused = [];
      this.#armLetIn();
    });
  }

  /**
   * Does not fill each place as soon as it is released. Otherwise as many probes would be in flight as there are
   * places, and each would wait for all others in every turn of the event loop. On a slow machine that alone takes
   * longer than their time-outs.
   */
  #armLetIn(): void {
    if (!this.#lines.isEmpty()) this.#cancelLetIn ??= this.#run.ports.clock.setTimer(0, () => this.#letIn());
  }

  /** Begins waiting probes for which there is a socket, as many as one turn of the event loop allows. */
  #letIn(): void {
    this.#cancelLetIn = undefined;
    const mayBegin = this.turn();
    for (let next = this.#lines.next(); next && !this.#isOver(); next = this.#lines.next()) {
      if (!mayBegin()) {
        this.#armLetIn();
        return;
      }
      this.#lines.leave(next);
      this.#start(next, this.#timetable.wallMs());
    }
  }

  #isOver(): boolean {
    return this.#isStopped || this.#run.ended() !== undefined;
  }
}

const nothingToDo: Promise<CycleEnd> = Promise.resolve('over');

// Probes that are due and wait for a socket.

export type WaitingLines = {
  /** A probe that already waits keeps its position. */
  join(worker: Worker): void;
  leave(worker: Worker): void;
  isEmpty(): boolean;
  /** The probe that may begin next: the first one of the best group for which there is a socket. */
  next(): Worker | undefined;
  /** Whether a waiting probe comes before one of this backlog class that has only now become due. */
  hasBefore(backlogClass: BacklogClass): boolean;
};

/** Who came when, in one line for each backlog class. */
export function waitingLines(socketBudget: Pick<SocketBudget, 'hasFor'>): WaitingLines {
  let arrivals = 0;
  const lines: { readonly [backlogClass in BacklogClass]: Map<Worker, number> } = {
    steady: new Map(),
    new: new Map(),
    hanging: new Map(),
  };
  /** True almost always, and cheaper to ask than a search through the lines. */
  const isEmpty = () => lines.steady.size + lines.new.size + lines.hanging.size === 0;
  /** The first worker of a line that still has to probe. */
  const firstOf = (backlogClass: BacklogClass): Worker | undefined => {
    for (const worker of lines[backlogClass].keys()) {
      if (!worker.inFlight && worker.isHeld()) return worker;
      lines[backlogClass].delete(worker);
    }
    return undefined;
  };
  const nextOf = (group: readonly BacklogClass[]): Worker | undefined => {
    let first: Worker | undefined;
    let firstArrival = Number.POSITIVE_INFINITY;
    for (const backlogClass of group) {
      const worker = firstOf(backlogClass);
      if (!worker || !socketBudget.hasFor(worker.backlogClass, descriptorsOf(worker.spec.probe))) continue;
      const arrival = lines[backlogClass].get(worker) ?? arrivals;
      if (arrival >= firstArrival) continue;
      first = worker;
      firstArrival = arrival;
    }
    return first;
  };
  const firstIn = (groups: readonly (readonly BacklogClass[])[]): Worker | undefined => {
    for (const group of groups) {
      const next = nextOf(group);
      if (next) return next;
    }
    return undefined;
  };
  return {
    join(worker) {
      const line = lines[worker.backlogClass];
      if (line.has(worker)) return;
      arrivals += 1;
      line.set(worker, arrivals);
    },
    leave: (worker) => void lines[worker.backlogClass].delete(worker),
    isEmpty,
    next: () => firstIn(servedInOrder),
    hasBefore: (backlogClass) => !isEmpty() && firstIn(servedBefore(backlogClass)) !== undefined,
  };
}

/** Groups whose waiting probes come before a probe of this class that has only now become due. */
const servedBefore = (backlogClass: BacklogClass): readonly (readonly BacklogClass[])[] =>
  servedInOrder.slice(0, servedInOrder.findIndex((group) => group.includes(backlogClass)) + 1);

// The work of a loop that is under way.

export type Work = ReturnType<typeof trackedWork>;

/**
 * Tracks the work under way. As in kubelet, a panic inside one probe is logged and swallowed, and the worker continues
 * (pkg/kubelet/prober/worker.go).
 */
export function trackedWork(log: Log) {
  /** Only counted: V8 would keep what a collection has held alive for long (shared/lib/bag.ts). */
  let underWay = 0;
  let done = Promise.withResolvers<void>();
  const end = () => {
    underWay -= 1;
    if (underWay > 0) return;
    done.resolve();
    done = Promise.withResolvers();
  };
  const failed = (cause: unknown) => {
    log[cause instanceof StoreUnavailable ? 'warn' : 'error']('a step of the loop failed', { cause });
    end();
  };
  return {
    track(work: Promise<void>) {
      underWay += 1;
      work.then(end, failed);
    },
    isEmpty: () => underWay === 0,
    async over() {
      while (underWay > 0) await done.promise;
    },
  };
}
