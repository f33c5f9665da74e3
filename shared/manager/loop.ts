/**
 * The loop of a run: one heap of what is due, one timer. A probe is in flight at most once; what its ticker holds meanwhile comes right
 * after. Targets are in the same heap: the holder is their timekeeper.
 */
import { descriptorsOf, type Manners, servedInOrder } from '../core/room.ts';
import { dueMs, oweTick, passTime, readyWakes, restTicker, spaceOut, takeWake } from '../core/ticker.ts';
import { dueHeap } from '../lib/heap.ts';
import { StoreUnavailable } from '../store/store.ts';
import type { HeldProbe, HeldTarget } from './held.ts';
import { type Place, probeRoom, type Room } from './room.ts';
import type { Run } from './run.ts';
import { tendLanes } from './tend-lanes.ts';
import { watchedWallTime } from './wall-time.ts';

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
  const isTick = run.message.mode === 'tick';
  const heap = dueHeap<Entry>();
  const working = new Set<Promise<void>>();
  const probing = new Set<HeldProbe>();
  const lines = linesOf();
  let steps: Steps | undefined;
  let cancelTimer: (() => void) | undefined;
  let timerAtMs = Number.POSITIVE_INFINITY;
  const wallTime = watchedWallTime(clock, keptOffsetMs);
  let stopping = false;
  let leaveRoom = (): void => undefined;
  let cancelLetIn: (() => void) | undefined;

  /** A jump before the start is seen then: what was loaded before it is set by the old time. */
  const wallMs = (): number => (steps ? wallTime.lookMs(steps.jumped) : clock.nowMs());

  const push = (at: number, entry: Entry) => {
    heap.push({ dueMs: at, entry });
    arm();
  };

  const arm = () => {
    const next = heap.peek();
    if (!next || stopping || !steps) return;
    const nowMs = clock.nowMs();
    const at = Math.min(Math.max(next.dueMs, nowMs), nowMs + timerMaxMs);
    if (cancelTimer && timerAtMs <= at) return;
    cancelTimer?.();
    timerAtMs = at;
    cancelTimer = clock.setTimer(at - nowMs, fire);
  };

  const fire = () => {
    cancelTimer = undefined;
    timerAtMs = Number.POSITIVE_INFINITY;
    const nowMs = wallMs();
    const inFlightMax = probing.size + beginsPerTurnMax;
    for (let next = heap.peek(); next && next.dueMs <= nowMs && !stopping; next = heap.peek()) {
      heap.pop();
      begin(next.entry, nowMs);
      if (probing.size >= inFlightMax) break;
    }
    lanes.begin();
    arm();
  };

  const begin = (entry: Entry, nowMs: number) => {
    if (entry.held.gone || run.ended() || !isCurrent(entry)) return;
    switch (entry.kind) {
      case 'target':
        return lanes.add(entry.held);
      case 'probe':
        return beginProbe(entry.held, entry.probe, nowMs);
    }
  };

  const beginProbe = (held: HeldTarget, probe: HeldProbe, nowMs: number) => {
    if (probe.inFlight) return;
    const hasRoom = room.hasFor(probe.manners, descriptorsOf(probe.spec));
    if (hasRoom && (lines.isEmpty() || !servedBefore(probe.manners).some(nextOf)))
      return startProbe(held, probe, nowMs);
    probe.owed = true;
    lines.join(held, probe);
    if (hasRoom) armLetIn();
  };

  const startProbe = (held: HeldTarget, probe: HeldProbe, nowMs: number) => {
    const ticker = passTime(probe.ticker, nowMs);
    const wake = readyWakes(ticker).at(-1);
    if (!wake) return schedule(held, probe);
    const next = takeWake(ticker, wake, nowMs);
    probe.ticker = isTick ? restTicker(next, nowMs) : probe.owed ? spaceOut(next, nowMs) : next;
    probe.owed = false;
    probe.inFlight = true;
    lines.leave(probe);
    probing.add(probe);
    track(cycle(held, probe, room.take(probe.manners, descriptorsOf(probe.spec))));
  };

  const cycle = async (held: HeldTarget, probe: HeldProbe, place: Place) => {
    try {
      if ((await steps?.cycle(held, probe, place)) === 'again') owe(probe);
    } finally {
      probe.inFlight = false;
      probing.delete(probe);
      // Also after a cycle that threw: the worker goes on.
      schedule(held, probe);
      place.leave();
    }
  };

  const owe = (probe: HeldProbe) => {
    probe.owed = true;
    probe.ticker = oweTick(probe.ticker);
  };

  /** After a look that failed another follows soon: no other process knows that something is open. */
  const tend = async (due: readonly HeldTarget[]) => {
    try {
      await steps?.tend(due);
    } catch (cause) {
      const againAtMs = clock.nowMs() + tendAgainMs;
      for (const held of due) scheduleTarget(held, againAtMs);
      throw cause;
    }
  };

  /**
   * Not at once, as one place is given back after the other: with as many probes in flight as there are places, each of them waits for all
   * others in every turn of the event loop, and on a slow machine that alone takes longer than their time-outs.
   */
  const armLetIn = () => {
    if (!lines.isEmpty()) cancelLetIn ??= clock.setTimer(0, letIn);
  };

  /** Begins what there is room for, one turn's worth. */
  const letIn = () => {
    cancelLetIn = undefined;
    const inFlightMax = probing.size + beginsPerTurnMax;
    for (const group of servedInOrder) {
      for (let next = nextOf(group); next && !stopping; next = nextOf(group)) {
        if (probing.size >= inFlightMax) return armLetIn();
        lines.leave(next.probe);
        if (!isGone(next) && !run.ended()) startProbe(next.held, next.probe, wallMs());
      }
    }
  };

  const nextOf = (group: readonly Manners[]) =>
    group
      .flatMap((manners) => lines.first(manners) ?? [])
      .filter((waiting) => isGone(waiting) || room.hasFor(waiting.probe.manners, descriptorsOf(waiting.probe.spec)))
      .reduce<Waiting | undefined>(
        (first, other) => (first && first.arrival < other.arrival ? first : other),
        undefined,
      );

  const track = (work: Promise<void>) => {
    // A panic inside one probe is logged and swallowed; the worker goes on (pkg/kubelet/prober/worker.go).
    const tracked = work
      .catch((cause: unknown) =>
        log[cause instanceof StoreUnavailable ? 'warn' : 'error']('a step of the loop failed', { cause }),
      )
      .finally(() => working.delete(tracked));
    working.add(tracked);
  };

  const lanes = tendLanes({ tend, track, isOver: () => stopping || run.ended() !== undefined });

  const schedule = (held: HeldTarget, probe: HeldProbe) => {
    if (held.gone || probe.inFlight || stopping || held.probes.get(probe.name) !== probe) return;
    const nowMs = wallMs();
    probe.wake += 1;
    probe.ticker = passTime(probe.ticker, nowMs);
    const at = dueMs(probe.ticker, nowMs);
    if (at < Number.POSITIVE_INFINITY) push(at, { kind: 'probe', held, probe, wake: probe.wake });
  };

  const scheduleTarget = (held: HeldTarget, at: number) => {
    if (held.gone || stopping) return;
    held.wake += 1;
    push(at, { kind: 'target', held, wake: held.wake });
  };

  return {
    start(given) {
      steps = given;
      leaveRoom = room.onFree(armLetIn);
      arm();
    },
    schedule,
    scheduleTarget,
    inFlight: () => probing.size,
    behind() {
      const oldest = heap.peek();
      return oldest !== undefined && clock.nowMs() - oldest.dueMs > behindAfterMs;
    },
    isQuiet() {
      const next = heap.peek();
      return working.size === 0 && (next === undefined || next.dueMs > clock.nowMs());
    },
    async stopped() {
      stopping = true;
      leaveRoom();
      cancelLetIn?.();
      cancelTimer?.();
      while (working.size > 0) await Promise.all(working);
    },
    abandon() {
      for (const probe of probing) owe(probe);
    },
    wallOffsetMs: wallTime.offsetMs,
  };
}

const isCurrent = (entry: Entry): boolean =>
  (entry.kind === 'probe' ? entry.probe.wake : entry.held.wake) === entry.wake;

/** Groups whose probes that wait come before one that is due only now. */
const servedBefore = (manners: Manners): readonly (readonly Manners[])[] =>
  servedInOrder.slice(0, servedInOrder.findIndex((group) => group.includes(manners)) + 1);

type Waiting = { readonly held: HeldTarget; readonly probe: HeldProbe; readonly arrival: number };

const isGone = ({ held, probe }: Waiting): boolean =>
  held.gone || probe.inFlight || held.probes.get(probe.name) !== probe;

/** Probes that found no room, in the order in which they came. */
function linesOf() {
  let arrivals = 0;
  const lines: { readonly [manners in Manners]: Map<HeldProbe, Waiting> } = {
    steady: new Map(),
    new: new Map(),
    hanging: new Map(),
  };
  return {
    /** A probe that waits already keeps its place. */
    join(held: HeldTarget, probe: HeldProbe) {
      const line = lines[probe.manners];
      if (line.has(probe)) return;
      arrivals += 1;
      line.set(probe, { held, probe, arrival: arrivals });
    },
    /** Almost always; it spares each probe that begins the search through the lines. */
    isEmpty: () => lines.steady.size + lines.new.size + lines.hanging.size === 0,
    first: (manners: Manners) => lines[manners].values().next().value,
    leave: (probe: HeldProbe) => void lines[probe.manners].delete(probe),
  };
}
