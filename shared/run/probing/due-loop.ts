/**
 * The loop of a run: one heap of what is due, one timer. A probe is in flight at most once; what its ticker holds meanwhile comes right
 * after. Targets are in the same heap: the holder is their timekeeper.
 */
import { descriptorsOf } from '../../core/room.ts';
import type { Clock } from '../../lib/clock.ts';
import { dueHeap } from '../../lib/heap.ts';
import type { Log } from '../../lib/log.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { Run } from '../run.ts';
import { watchedWallTime } from '../self-check/wall-time.ts';
import type { HeldProbe, HeldTarget } from './held-target.ts';
import { tendLanes } from './lanes.ts';
import { arm as armProbe, begin as beginProbe, land, postpone, repeat } from './probe-schedule.ts';
import { type Place, probeRoom, type Room } from './sockets.ts';
import { waitingLines } from './waiting-lines.ts';

/** The timer never sleeps longer, so that a wall clock that jumped is seen. */
const timerMaxMs = 1_000;
/**
 * Probes that begin in one turn of the event loop: after a restart hundreds are due at once, and while they begin the answers to those that
 * have begun are not read. They are counted, since most of what a beginning costs comes after the turn's own code, where no clock sees it.
 */
const beginsPerTurnMax = 8;
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
 * `room`: of the process, if it holds several shards. `keptOffsetMs`: the `wallOffsetMs` of the loop whose tickers this one goes on with.
 */
export function startLoop(run: Run, room: Room = probeRoom(), keptOffsetMs?: number): Loop {
  const { clock, log } = run.ports;
  const heap = dueHeap<Entry>();
  const wallTime = watchedWallTime(clock, keptOffsetMs);
  const work = trackedWork(log);
  let steps: Steps | undefined;
  let stopping = false;

  /** A jump before the start is seen then: what was loaded before it is set by the old time. */
  const wallMs = (): number => (steps ? wallTime.lookMs(steps.jumped) : clock.nowMs());
  const isOver = () => stopping || run.ended() !== undefined;

  const ring = () => {
    const nowMs = wallMs();
    const mayBegin = probes.turn();
    for (let next = heap.peek(); next && next.dueMs <= nowMs && !stopping; next = heap.peek()) {
      heap.pop();
      begin(next.entry, nowMs);
      if (!mayBegin()) break;
    }
    lanes.begin();
    arm();
  };
  const alarm = alarmOf(clock, ring);
  const arm = () => {
    const next = heap.peek();
    if (next && !stopping && steps) alarm.set(next.dueMs);
  };
  const begin = (entry: Entry, nowMs: number) => {
    if (entry.held.gone || run.ended() || !isCurrent(entry)) return;
    if (entry.kind === 'target') lanes.add(entry.held);
    else probes.begin(entry.held, entry.probe, nowMs);
  };
  const push = (at: number, entry: Entry) => {
    heap.push({ dueMs: at, entry });
    arm();
  };
  const schedule = (held: HeldTarget, probe: HeldProbe) => {
    if (held.gone || probe.schedule.inFlight || stopping || held.probes.get(probe.name) !== probe) return;
    const at = armProbe(probe.schedule, wallMs());
    if (at < Number.POSITIVE_INFINITY) push(at, { kind: 'probe', held, probe, wake: probe.schedule.wake });
  };
  const scheduleTarget = (held: HeldTarget, at: number) => {
    if (held.gone || stopping) return;
    held.wake += 1;
    push(at, { kind: 'target', held, wake: held.wake });
  };
  const cycle: Steps['cycle'] = async (...args) => (await steps?.cycle(...args)) ?? 'over';
  const probes = probesInFlight({ run, room, work, cycle, schedule, wallMs, isOver });
  const tend = tendAgain({ tend: async (due) => steps?.tend(due), scheduleTarget, clock });
  const lanes = tendLanes({ tend, track: work.track, isOver });

  return {
    start(given) {
      steps = given;
      probes.letInOnFree();
      arm();
    },
    schedule,
    scheduleTarget,
    inFlight: probes.count,
    behind: () => clock.nowMs() - (heap.peek()?.dueMs ?? Number.POSITIVE_INFINITY) > behindAfterMs,
    isQuiet: () => work.isEmpty() && (heap.peek()?.dueMs ?? Number.POSITIVE_INFINITY) > clock.nowMs(),
    stopped() {
      stopping = true;
      probes.stop();
      alarm.cancel();
      return work.over();
    },
    abandon: probes.abandon,
    wallOffsetMs: wallTime.offsetMs,
  };
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

type Tending = {
  readonly tend: Steps['tend'];
  readonly scheduleTarget: Loop['scheduleTarget'];
  readonly clock: Clock;
};

/** After a look that failed another follows soon: no other process knows that something is open. */
const tendAgain =
  ({ tend, scheduleTarget, clock }: Tending): Steps['tend'] =>
  async (due) => {
    try {
      await tend(due);
    } catch (cause) {
      const againAtMs = clock.nowMs() + tendAgainMs;
      for (const held of due) scheduleTarget(held, againAtMs);
      throw cause;
    }
  };

type Probing = {
  readonly run: Run;
  readonly room: Room;
  readonly work: Work;
  readonly cycle: Steps['cycle'];
  readonly schedule: Loop['schedule'];
  readonly wallMs: () => number;
  readonly isOver: () => boolean;
};

/** Probes that are in flight, and those that wait for a socket. */
function probesInFlight({ run, room, work, cycle, schedule, wallMs, isOver }: Probing) {
  const isTick = run.message.mode === 'tick';
  const probing = new Set<HeldProbe>();
  const lines = waitingLines(room);
  let leaveRoom = (): void => undefined;
  let cancelLetIn: (() => void) | undefined;

  const start = (held: HeldTarget, probe: HeldProbe, nowMs: number) => {
    if (!beginProbe(probe.schedule, nowMs, isTick)) return schedule(held, probe);
    lines.leave(probe);
    probing.add(probe);
    work.track(flight(held, probe, room.take(probe.schedule.backlogClass, descriptorsOf(probe.spec.probe))));
  };
  const flight = async (held: HeldTarget, probe: HeldProbe, place: Place) => {
    try {
      if ((await cycle(held, probe, place)) === 'again') repeat(probe.schedule);
    } finally {
      land(probe.schedule);
      probing.delete(probe);
      // Also after a cycle that threw: the worker goes on.
      schedule(held, probe);
      place.leave();
    }
  };
  const turn = () => {
    const inFlightMax = probing.size + beginsPerTurnMax;
    return () => probing.size < inFlightMax;
  };
  /**
   * Not at once, as one place is given back after the other: with as many probes in flight as there are places, each of them waits for all
   * others in every turn of the event loop, and on a slow machine that alone takes longer than their time-outs.
   */
  const armLetIn = () => {
    if (!lines.isEmpty()) cancelLetIn ??= run.ports.clock.setTimer(0, letIn);
  };
  /** Begins what there is room for, one turn's worth. */
  const letIn = () => {
    cancelLetIn = undefined;
    const mayBegin = turn();
    for (let next = lines.next(); next && !isOver(); next = lines.next()) {
      if (!mayBegin()) return armLetIn();
      lines.leave(next.probe);
      start(next.held, next.probe, wallMs());
    }
  };
  return {
    begin(held: HeldTarget, probe: HeldProbe, nowMs: number) {
      const { inFlight, backlogClass } = probe.schedule;
      if (inFlight) return;
      const hasRoom = room.hasFor(backlogClass, descriptorsOf(probe.spec.probe));
      if (hasRoom && !lines.hasBefore(backlogClass)) return start(held, probe, nowMs);
      postpone(probe.schedule);
      lines.join(held, probe);
      if (hasRoom) armLetIn();
    },
    turn,
    count: () => probing.size,
    letInOnFree() {
      leaveRoom = room.onFree(armLetIn);
    },
    stop() {
      leaveRoom();
      cancelLetIn?.();
    },
    abandon() {
      for (const probe of probing) repeat(probe.schedule);
    },
  };
}
