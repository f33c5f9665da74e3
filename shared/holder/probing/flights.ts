/** The probes of a run that are in flight or due and waiting for a socket. A probe is in flight at most once. */
import { type BacklogClass, descriptorsOf, servedInOrder } from '../../core/self/sockets.ts';
import { Bag, type BagItem, inNoBag } from '../../lib/bag.ts';
import type { Log } from '../../lib/log.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { Run } from '../run.ts';
import type { CycleEnd, Loop, Steps } from './due-loop.ts';
import { type HeldProbe, type HeldTarget, turnOf } from './held.ts';
import type { Lateness } from './lateness.ts';
import { begin as beginProbe, land, postpone, repeat } from './probe-schedule.ts';
import type { Place, SocketBudget } from './sockets.ts';

/**
 * Probes that may begin in one turn of the event loop. After a restart hundreds are due at once, and while they begin,
 * the process does not read the answers to those that have begun. The limit is a number of probes, not a duration,
 * because most of the cost of beginning a probe arises after the code of the turn, where no clock measures it.
 */
const beginsPerTurnMax = 8;
/** Pause before a probe is tried again that this machine has refused. */
const retryMs = 500;

type Probing = {
  readonly run: Run;
  readonly socketBudget: SocketBudget;
  readonly lateness: Lateness;
  /** Tracks the work until it ends, and swallows what it throws. */
  readonly track: (work: Promise<void>) => void;
  readonly cycle: Steps['cycle'];
  readonly schedule: Loop['schedule'];
  readonly wallMs: () => number;
  readonly isOver: () => boolean;
};

type Flight = BagItem & { readonly probe: HeldProbe };

export class ProbesInFlight {
  readonly #by: Probing;
  readonly #isTick: boolean;
  readonly #lines: WaitingLines;
  readonly #probing = new Bag<Flight>();
  #leaveRoom = (): void => undefined;
  #cancelLetIn: (() => void) | undefined;
  /** Probes that this machine has refused; a pause later they wait for a socket. */
  #refused: { readonly held: HeldTarget; readonly probe: HeldProbe }[] = [];
  #cancelRetry: (() => void) | undefined;

  constructor(by: Probing) {
    this.#by = by;
    this.#isTick = by.run.message.mode === 'tick';
    this.#lines = waitingLines(by.socketBudget);
  }

  /** Starts the probe, or makes it wait for a socket. */
  begin(held: HeldTarget, probe: HeldProbe, nowMs: number): void {
    const { inFlight, backlogClass } = probe.schedule;
    if (inFlight) return;
    const fitsBudget = this.#by.socketBudget.hasFor(backlogClass, descriptorsOf(probe.spec.probe));
    if (fitsBudget && !this.#lines.hasBefore(backlogClass)) {
      this.#start(held, probe, nowMs);
      return;
    }
    postpone(probe.schedule);
    this.#lines.join(held, probe);
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

  /** Probes wait, and there is a socket for none of them, or this machine has just refused one. */
  lacksSockets(): boolean {
    return this.#refused.length > 0 || (!this.#lines.isEmpty() && this.#lines.next() === undefined);
  }

  letInOnFree(): void {
    this.#leaveRoom = this.#by.socketBudget.onFree(() => this.#armLetIn());
  }

  stop(): void {
    this.#leaveRoom();
    this.#cancelLetIn?.();
    this.#cancelRetry?.();
  }

  /** Each probe in flight has to run again, and its report is void. */
  abandon(): void {
    for (const { probe } of this.#probing.items()) repeat(probe.schedule);
  }

  #start(held: HeldTarget, probe: HeldProbe, nowMs: number): void {
    const { socketBudget, lateness, track, schedule } = this.#by;
    // Since it was due first: a probe that waits for a socket keeps its turn.
    const { dueMs } = turnOf(held, probe);
    if (!beginProbe(probe.schedule, nowMs, this.#isTick)) {
      schedule(held, probe);
      return;
    }
    this.#lines.leave(probe);
    lateness.began(nowMs - dueMs);
    const place = socketBudget.take(probe.schedule.backlogClass, descriptorsOf(probe.spec.probe));
    const flight: Flight = { bagPlace: inNoBag, probe };
    this.#probing.add(flight);
    track(this.#fly(held, flight, place));
  }

  async #fly(held: HeldTarget, flight: Flight, place: Place): Promise<void> {
    const { probe } = flight;
    let end: CycleEnd = 'over';
    try {
      end = await this.#by.cycle(held, probe, place);
      if (end === 'again' || end === 'refused') repeat(probe.schedule);
    } finally {
      land(probe.schedule);
      this.#probing.delete(flight);
      // Also after a cycle that threw, so that the worker continues.
      if (end === 'refused') this.#putBack(held, probe);
      else this.#by.schedule(held, probe);
      place.leave();
    }
  }

  /** Not through the heap, so that the probe is late since it was due first. */
  #putBack(held: HeldTarget, probe: HeldProbe): void {
    if (this.#by.isOver()) return;
    this.#refused.push({ held, probe });
    this.#cancelRetry ??= this.#by.run.ports.clock.setTimer(retryMs, () => {
      this.#cancelRetry = undefined;
      for (const each of this.#refused) this.#lines.join(each.held, each.probe);
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
    if (!this.#lines.isEmpty()) this.#cancelLetIn ??= this.#by.run.ports.clock.setTimer(0, () => this.#letIn());
  }

  /** Begins waiting probes for which there is a socket, as many as one turn of the event loop allows. */
  #letIn(): void {
    this.#cancelLetIn = undefined;
    const mayBegin = this.turn();
    for (let next = this.#lines.next(); next && !this.#by.isOver(); next = this.#lines.next()) {
      if (!mayBegin()) {
        this.#armLetIn();
        return;
      }
      this.#lines.leave(next.probe);
      this.#start(next.held, next.probe, this.#by.wallMs());
    }
  }
}

// Probes that are due and wait for a socket.

export type Waiting = { readonly held: HeldTarget; readonly probe: HeldProbe; readonly arrival: number };

export type WaitingLines = {
  /** A probe that already waits keeps its position. */
  join(held: HeldTarget, probe: HeldProbe): void;
  leave(probe: HeldProbe): void;
  isEmpty(): boolean;
  /** The probe that may begin next: the first one of the best group for which there is a socket. */
  next(): Waiting | undefined;
  /** Whether a waiting probe comes before one of this backlog class that has only now become due. */
  hasBefore(backlogClass: BacklogClass): boolean;
};

export function waitingLines(socketBudget: Pick<SocketBudget, 'hasFor'>): WaitingLines {
  let arrivals = 0;
  const lines: { readonly [backlogClass in BacklogClass]: Map<HeldProbe, Waiting> } = {
    steady: new Map(),
    new: new Map(),
    hanging: new Map(),
  };
  /** True almost always. This spares each probe that begins a search through the lines. */
  const isEmpty = () => lines.steady.size + lines.new.size + lines.hanging.size === 0;
  /** The first entry of a line that still has to be probed. */
  const firstOf = (backlogClass: BacklogClass): Waiting | undefined => {
    for (const waiting of lines[backlogClass].values()) {
      if (!isGone(waiting)) return waiting;
      lines[backlogClass].delete(waiting.probe);
    }
    return undefined;
  };
  const nextOf = (group: readonly BacklogClass[]) =>
    group
      .flatMap((backlogClass) => firstOf(backlogClass) ?? [])
      .filter(({ probe }) => socketBudget.hasFor(probe.schedule.backlogClass, descriptorsOf(probe.spec.probe)))
      .reduce<Waiting | undefined>(
        (first, other) => (first && first.arrival < other.arrival ? first : other),
        undefined,
      );
  const firstIn = (groups: readonly (readonly BacklogClass[])[]) => {
    for (const group of groups) {
      const next = nextOf(group);
      if (next) return next;
    }
    return undefined;
  };
  return {
    join(held, probe) {
      const line = lines[probe.schedule.backlogClass];
      if (line.has(probe)) return;
      arrivals += 1;
      line.set(probe, { held, probe, arrival: arrivals });
    },
    leave: (probe) => void lines[probe.schedule.backlogClass].delete(probe),
    isEmpty,
    next: () => firstIn(servedInOrder),
    hasBefore: (backlogClass) => !isEmpty() && firstIn(servedBefore(backlogClass)) !== undefined,
  };
}

/** Groups whose waiting probes come before a probe of this class that has only now become due. */
const servedBefore = (backlogClass: BacklogClass): readonly (readonly BacklogClass[])[] =>
  servedInOrder.slice(0, servedInOrder.findIndex((group) => group.includes(backlogClass)) + 1);

const isGone = ({ held, probe }: Waiting): boolean =>
  held.gone || probe.schedule.inFlight || held.probes.get(probe.name) !== probe;

// The work of a loop that is under way.

export type Work = ReturnType<typeof trackedWork>;

/**
 * Tracks the work under way. As in kubelet, a panic inside one probe is logged and swallowed, and the worker continues
 * (pkg/kubelet/prober/worker.go).
 */
export function trackedWork(log: Log) {
  /** A number, since a collection of all that is under way would outlive it (see shared/lib/bag.ts). */
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
