/**
 * The loop of a run: one heap of what is due, one timer. A probe is in flight at most once; what its ticker holds meanwhile comes right
 * after. Targets are in the same heap: the holder is their timekeeper.
 */
import { descriptorsOf, type Manners, mannersInOrder } from '../core/room.ts';
import { isClockJump } from '../core/self-health.ts';
import { dueMs, oweTick, passTime, readyWakes, restTicker, spaceOut, takeWake } from '../core/ticker.ts';
import { dueHeap } from '../lib/heap.ts';
import { StoreUnavailable } from '../store/store.ts';
import type { HeldProbe, HeldTarget } from './held.ts';
import { probeRoom, type Room } from './room.ts';
import type { Run } from './run.ts';

/** The timer never sleeps longer, so that a wall clock that jumped is seen. */
const timerMaxMs = 1_000;
/** After a look at a target that failed. */
const tendAgainMs = 2_000;
/** Something that has been due for longer than this holds up the shard's observation. */
const behindAfterMs = 1_000;

type Entry =
  | { readonly kind: 'probe'; readonly held: HeldTarget; readonly probe: HeldProbe; readonly wake: number }
  | { readonly kind: 'target'; readonly held: HeldTarget; readonly wake: number };

export type Steps = {
  readonly cycle: (held: HeldTarget, probe: HeldProbe) => Promise<void>;
  readonly tend: (held: HeldTarget) => Promise<void>;
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
};

/** `room`: of the process, if it holds several shards. */
export function startLoop(run: Run, room: Room = probeRoom()): Loop {
  const { clock, log } = run.ports;
  const isTick = run.message.mode === 'tick';
  const heap = dueHeap<Entry>();
  const working = new Set<Promise<void>>();
  const probing = new Set<HeldProbe>();
  const lines = linesOf();
  let steps: Steps | undefined;
  let cancelTimer: (() => void) | undefined;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let offsetMs = clock.nowMs() - clock.monotonicMs();
  let stopping = false;
  let leaveRoom = (): void => undefined;

  /** Every look at the wall clock is held against the monotonic one first, or a jump would make everything due at once, or nothing. */
  const wallMs = (): number => {
    const nowMs = clock.nowMs();
    const jumpMs = nowMs - clock.monotonicMs() - offsetMs;
    if (isClockJump(jumpMs)) {
      offsetMs += jumpMs;
      steps?.jumped(jumpMs);
    }
    return nowMs;
  };

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
    for (let next = heap.peek(); next && next.dueMs <= nowMs && !stopping; next = heap.peek()) {
      heap.pop();
      begin(next.entry, nowMs);
    }
    arm();
  };

  const begin = (entry: Entry, nowMs: number) => {
    if (entry.held.gone || run.ended() || !isCurrent(entry)) return;
    switch (entry.kind) {
      case 'target':
        return track(tend(entry.held));
      case 'probe':
        return beginProbe(entry.held, entry.probe, nowMs);
    }
  };

  const beginProbe = (held: HeldTarget, probe: HeldProbe, nowMs: number) => {
    if (probe.inFlight) return;
    const ticker = passTime(probe.ticker, nowMs);
    const wake = readyWakes(ticker).at(-1);
    if (!wake) return schedule(held, probe);
    const { manners } = probe;
    const descriptors = descriptorsOf(probe.spec);
    if (!room.hasFor(manners, descriptors)) {
      probe.owed = true;
      lines.join(held, probe);
      return;
    }
    const next = takeWake(ticker, wake, nowMs);
    probe.ticker = isTick ? restTicker(next, nowMs) : probe.owed ? spaceOut(next, nowMs) : next;
    probe.owed = false;
    probe.inFlight = true;
    lines.leave(probe);
    probing.add(probe);
    track(cycle(held, probe, room.take(manners, descriptors)));
  };

  const cycle = async (held: HeldTarget, probe: HeldProbe, release: () => void) => {
    try {
      await steps?.cycle(held, probe);
    } finally {
      probe.inFlight = false;
      probing.delete(probe);
      // Also after a cycle that threw: the worker goes on.
      schedule(held, probe);
      release();
    }
  };

  /** A look that failed is taken again soon: nobody else knows that something of the target is open. */
  const tend = async (held: HeldTarget) => {
    try {
      await steps?.tend(held);
    } catch (cause) {
      scheduleTarget(held, clock.nowMs() + tendAgainMs);
      throw cause;
    }
  };

  /** Of those that wait for room the best-mannered first, and of these who has waited longest. */
  const letIn = () => {
    for (const manners of mannersInOrder) {
      for (let first = lines.first(manners); first && !stopping; first = lines.first(manners)) {
        const [probe, held] = first;
        const gone = held.gone || probe.inFlight || held.probes.get(probe.name) !== probe;
        if (!gone && !room.hasFor(manners, descriptorsOf(probe.spec))) break;
        lines.leave(probe);
        if (!gone && !run.ended()) beginProbe(held, probe, wallMs());
      }
    }
  };

  const track = (work: Promise<void>) => {
    // A panic inside one probe is logged and swallowed; the worker goes on (pkg/kubelet/prober/worker.go).
    const tracked = work
      .catch((cause: unknown) =>
        log[cause instanceof StoreUnavailable ? 'warn' : 'error']('a step of the loop failed', { cause }),
      )
      .finally(() => working.delete(tracked));
    working.add(tracked);
  };

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
      leaveRoom = room.onFree(letIn);
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
      cancelTimer?.();
      while (working.size > 0) await Promise.all(working);
    },
    abandon() {
      for (const probe of probing) {
        probe.owed = true;
        probe.ticker = oweTick(probe.ticker);
      }
    },
  };
}

const isCurrent = (entry: Entry): boolean =>
  (entry.kind === 'probe' ? entry.probe.wake : entry.held.wake) === entry.wake;

/** Probes that found no room, in the order in which they came. */
function linesOf() {
  const lines: { readonly [manners in Manners]: Map<HeldProbe, HeldTarget> } = {
    steady: new Map(),
    new: new Map(),
    hanging: new Map(),
  };
  return {
    /** Who waits already keeps its place. */
    join: (held: HeldTarget, probe: HeldProbe) => void lines[probe.manners].set(probe, held),
    first: (manners: Manners) => lines[manners].entries().next().value,
    leave: (probe: HeldProbe) => void lines[probe.manners].delete(probe),
  };
}
