/**
 * The loop of a run: one heap of what is due, one timer. A probe is in flight at most once; what its ticker holds meanwhile comes right
 * after. Targets are in the same heap: the holder is their timekeeper.
 */
import type { Clock } from '../../lib/clock.ts';
import { dueHeap } from '../../lib/heap.ts';
import type { Log } from '../../lib/log.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { Run } from '../run.ts';
import { watchedWallTime } from '../self-check/wall-time.ts';
import type { HeldProbe, HeldTarget } from './held-target.ts';
import { ProbesInFlight } from './in-flight.ts';
import { type TendLanes, tendLanes } from './lanes.ts';
import { arm as armProbe } from './probe-schedule.ts';
import { newSocketBudget, type Place, type SocketBudget } from './sockets.ts';

/** The timer never sleeps longer, so that a wall clock that jumped is seen. */
const timerMaxMs = 1_000;
/** After a look at a target that failed. */
const tendAgainMs = 2_000;
/** Something that has been due for longer than this holds up the shard's observation. */
const behindAfterMs = 1_000;

type Entry =
  | { readonly kind: 'probe'; readonly held: HeldTarget; readonly probe: HeldProbe; readonly wake: number }
  | { readonly kind: 'target'; readonly held: HeldTarget; readonly wake: number };

/** `again`: the cycle gave its place back while it waited for a commit and has still to probe, so it begins anew. */
export type CycleEnd = 'over' | 'again';

export type Steps = {
  readonly cycle: (held: HeldTarget, probe: HeldProbe, place: Place) => Promise<CycleEnd>;
  /** Looks at targets of one bucket that are due. */
  readonly tend: (due: readonly HeldTarget[]) => Promise<void>;
  /** Wall time moved by so much against monotonic time: what was set by it is to be set anew. */
  readonly jumped: (jumpMs: number) => void;
};

export type Loop = {
  start(steps: Steps): void;
  schedule(held: HeldTarget, probe: HeldProbe): void;
  scheduleTarget(held: HeldTarget, dueMs: number): void;
  inFlight(): number;
  /** Something due has not begun for a while. Not meant: probes that wait for room, which are late each for itself. */
  behind(): boolean;
  /** Nothing is under way and nothing is due. */
  isQuiet(): boolean;
  /** Begins nothing more; resolves when nothing is in flight. */
  stopped(): Promise<void>;
  /** What is in flight is void and owed. */
  abandon(): void;
  /** By how much the wall time that the tickers are set by is ahead of monotonic time. */
  wallOffsetMs(): number;
};

/**
 * `socketBudget`: of the process, if it holds several shards. `keptOffsetMs`: the `wallOffsetMs` of the loop whose tickers this one goes on with.
 */
export const startLoop = (run: Run, socketBudget: SocketBudget = newSocketBudget(), keptOffsetMs?: number): Loop =>
  new DueLoop(run, socketBudget, keptOffsetMs);

class DueLoop implements Loop {
  readonly #run: Run;
  readonly #heap = dueHeap<Entry>();
  readonly #wallTime: ReturnType<typeof watchedWallTime>;
  readonly #work: Work;
  readonly #alarm: ReturnType<typeof alarmOf>;
  readonly #probes: ProbesInFlight;
  readonly #lanes: TendLanes;
  #steps: Steps | undefined;
  #stopping = false;

  constructor(run: Run, socketBudget: SocketBudget, keptOffsetMs: number | undefined) {
    const { clock, log } = run.ports;
    this.#run = run;
    this.#wallTime = watchedWallTime(clock, keptOffsetMs);
    this.#work = trackedWork(log);
    this.#alarm = alarmOf(clock, () => this.#ring());
    const { track } = this.#work;
    const isOver = () => this.#stopping || run.ended() !== undefined;
    this.#probes = new ProbesInFlight({
      run,
      socketBudget,
      track,
      isOver,
      cycle: async (...due) => (await this.#steps?.cycle(...due)) ?? 'over',
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
    const at = armProbe(probe.schedule, this.#wallMs());
    if (at < Number.POSITIVE_INFINITY) this.#push(at, { kind: 'probe', held, probe, wake: probe.schedule.wake });
  }

  scheduleTarget(held: HeldTarget, at: number): void {
    if (held.gone || this.#stopping) return;
    held.wake += 1;
    this.#push(at, { kind: 'target', held, wake: held.wake });
  }

  inFlight(): number {
    return this.#probes.count();
  }

  behind(): boolean {
    return this.#run.ports.clock.nowMs() - this.#nextDueMs() > behindAfterMs;
  }

  isQuiet(): boolean {
    return this.#work.isEmpty() && this.#nextDueMs() > this.#run.ports.clock.nowMs();
  }

  stopped(): Promise<void> {
    this.#stopping = true;
    this.#probes.stop();
    this.#alarm.cancel();
    return this.#work.over();
  }

  abandon(): void {
    this.#probes.abandon();
  }

  wallOffsetMs(): number {
    return this.#wallTime.offsetMs();
  }

  /** A jump before the start is seen at the start: what was loaded before it is set by the old time. */
  #wallMs(): number {
    return this.#steps ? this.#wallTime.lookMs(this.#steps.jumped) : this.#run.ports.clock.nowMs();
  }

  #nextDueMs(): number {
    return this.#heap.peek()?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  /** Begins what is due, one turn's worth. */
  #ring(): void {
    const nowMs = this.#wallMs();
    const mayBegin = this.#probes.turn();
    for (let next = this.#heap.peek(); next && next.dueMs <= nowMs && !this.#stopping; next = this.#heap.peek()) {
      this.#heap.pop();
      this.#begin(next.entry, nowMs);
      if (!mayBegin()) break;
    }
    this.#lanes.begin();
    this.#arm();
  }

  #begin(entry: Entry, nowMs: number): void {
    if (entry.held.gone || this.#run.ended() || !isCurrent(entry)) return;
    if (entry.kind === 'target') this.#lanes.add(entry.held);
    else this.#probes.begin(entry.held, entry.probe, nowMs);
  }

  #push(at: number, entry: Entry): void {
    this.#heap.push({ dueMs: at, entry });
    this.#arm();
  }

  #arm(): void {
    const next = this.#heap.peek();
    if (next && !this.#stopping && this.#steps) this.#alarm.set(next.dueMs);
  }

  /** A failed look is repeated soon: no other process knows that something is open. */
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

const isCurrent = (entry: Entry): boolean =>
  (entry.kind === 'probe' ? entry.probe.schedule.wake : entry.held.wake) === entry.wake;

/** One timer for the earliest of all instants that it was set to. */
function alarmOf(clock: Clock, ring: () => void) {
  let atMs = Number.POSITIVE_INFINITY;
  let cancel: (() => void) | undefined;
  return {
    set(dueMs: number) {
      const nowMs = clock.nowMs();
      const at = Math.min(Math.max(dueMs, nowMs), nowMs + timerMaxMs);
      if (cancel && atMs <= at) return;
      cancel?.();
      atMs = at;
      cancel = clock.setTimer(at - nowMs, () => {
        cancel = undefined;
        atMs = Number.POSITIVE_INFINITY;
        ring();
      });
    },
    cancel: () => cancel?.(),
  };
}

type Work = ReturnType<typeof trackedWork>;

/** What is under way. A panic inside one probe is logged and swallowed; the worker goes on (pkg/kubelet/prober/worker.go). */
function trackedWork(log: Log) {
  const working = new Set<Promise<void>>();
  return {
    track(work: Promise<void>) {
      const tracked = work
        .catch((cause: unknown) =>
          log[cause instanceof StoreUnavailable ? 'warn' : 'error']('a step of the loop failed', { cause }),
        )
        .finally(() => working.delete(tracked));
      working.add(tracked);
    },
    isEmpty: () => working.size === 0,
    async over() {
      while (working.size > 0) await Promise.all(working);
    },
  };
}
