/**
 * The virtual time of a simulated world: one heap of future events in the order of time, simultaneous events in an
 * order that the seed decides. Only microtasks run between two events, no I/O and no real clock, so a seed repeats a
 * run event by event, as its trace hash proves.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Random } from '../../shared/lib/random.ts';
import { turnCostMs } from './cpu.ts';
import type { EventLoop } from './event-loop.ts';

/** One life of a process, from its start to its crash. Events reach it only while it lives and is not paused. */
export type Life = {
  readonly name: string;
  /** What kind of process it is: crash points are named after it. */
  readonly role: string;
  alive: boolean;
  pausedUntilMs: number;
  /** Whether due timers or received answers come first after a pause. */
  timersFirst: boolean;
  /** How far the process's wall clock is ahead of the true time. */
  skewMs: number;
  /** By how much the clock of its machine was set, in addition. */
  readonly stepMs?: () => number;
  /** Absent: its steps take no time. */
  readonly loop?: EventLoop;
  /** Set: a function's container between two invocations. */
  frozenSinceMs?: number | undefined;
  /** By what its monotonic clock lies behind the world's time: it may stand still while the container is frozen. */
  monotonicLagMs?: number;
  readonly clockStopsFrozen?: boolean;
  /** Called once when it dies. */
  onDeath?: (() => void) | undefined;
};

export type Happening = {
  /** For the trace. */
  readonly label: string;
  /** Whose it is; absent: the world's own. */
  readonly life?: Life;
  readonly kind?: 'timer' | 'answer';
  /** Happens at its time whatever becomes of the process: a sent request arrives. */
  readonly effect?: () => void;
  /** What the process does with it, if it lives, once it is not paused. */
  readonly deliver?: () => void;
};

export type Scheduler = {
  /** The true time, ms since the beginning of the world. */
  nowMs(): number;
  /** Returns what cancels it. */
  after(delayMs: number, happening: Happening): () => void;
  /** Adds to the trace. */
  trace(line: string): void;
  runUntil(untilMs: number): Promise<void>;
  /** From now on holds back all events of this process, its timers included, until it is thawed. */
  freeze(life: Life): void;
  thaw(life: Life): void;
  /** The labels of what this process has set or still waits for. */
  pendingOf(life: Life): readonly string[];
  traceHash(): string;
  events(): number;
};

type Entry = { dueMs: number; tie: number; readonly order: number; happening: Happening | undefined };

/** The true time at the beginning, ms since the epoch. */
export const worldStartMs = Date.UTC(2030, 0, 1);

/** Node collects garbage only if its own event loop gets a turn now and then. */
const eventsPerTurn = 512;

export function startScheduler(random: Pick<Random, 'next'>, onLine?: (line: string) => void): Scheduler {
  const heap: Entry[] = [];
  const frozen = new Map<Life, Entry[]>();
  const hash = createHash('sha256');
  let text = '';
  let nowMs = 0;
  let order = 0;
  let count = 0;

  const trace = (line: string) => {
    onLine?.(line);
    text += `${line}\n`;
    if (text.length < 65_536) return;
    hash.update(text, 'latin1');
    text = '';
  };

  /** Events of a paused process wait for it, and can be cancelled; timers keep their order. */
  const postpone = (entry: Entry, happening: Happening, life: Life) => {
    const isTimer = happening.kind === 'timer';
    const tie = isTimer ? (life.timersFirst ? -1 : 2) + entry.dueMs * 1e-12 : random.next();
    const { effect: _, ...rest } = happening;
    entry.happening = rest;
    entry.tie = tie;
    entry.dueMs = life.pausedUntilMs;
    heapPush(heap, entry);
  };

  /** Whether the process is paused or frozen, so that the event waits. */
  const isHeldBack = (entry: Entry, happening: Happening, life: Life): boolean => {
    const frozenEntries = life.frozenSinceMs === undefined ? undefined : frozen.get(life);
    const { effect: _, ...rest } = happening;
    if (frozenEntries) {
      entry.happening = rest;
      frozenEntries.push(entry);
      return true;
    }
    if (life.pausedUntilMs <= nowMs) return false;
    postpone(entry, happening, life);
    return true;
  };

  const happen = (entry: Entry) => {
    const { happening } = entry;
    if (!happening) return;
    happening.effect?.();
    const { life } = happening;
    if (!life) {
      trace(`${nowMs} ${happening.label}`);
      return happening.deliver?.();
    }
    if (!life.alive || !happening.deliver) return;
    if (isHeldBack(entry, happening, life)) return;
    if (life.loop) return runInLoop(entry, life, life.loop);
    trace(`${nowMs} ${life.name} ${happening.label}`);
    happening.deliver();
  };

  /** Runs at once if the loop is free, else after earlier events. */
  const runInLoop = (entry: Entry, life: Life, loop: EventLoop) => {
    loop.enqueue(() => {
      const { happening } = entry;
      if (!happening || !life.alive || isHeldBack(entry, happening, life)) return;
      trace(`${nowMs} ${life.name} ${happening.label}`);
      loop.spend(turnCostMs);
      happening.deliver?.();
    });
    if (loop.turning) return;
    if (loop.freeAtMs() <= nowMs) loop.next()?.();
    turnLater(life, loop);
  };

  const turnLater = (life: Life, loop: EventLoop) => {
    if (loop.waiting === 0) return;
    loop.turning = true;
    const turn = () => {
      loop.turning = false;
      if (loop.freeAtMs() <= nowMs) loop.next()?.();
      turnLater(life, loop);
    };
    after(loop.freeAtMs() - nowMs, { label: 'turn', life, effect: turn });
  };

  /** The next event that is not cancelled, at its time. */
  const takeUntil = (untilMs: number): Entry | undefined => {
    for (let next = heap[0]; next && next.dueMs <= untilMs; next = heap[0]) {
      heapPop(heap);
      if (!next.happening) continue;
      nowMs = Math.max(nowMs, next.dueMs);
      count += 1;
      return next;
    }
    nowMs = untilMs;
    return undefined;
  };

  function after(delayMs: number, happening: Happening): () => void {
    order += 1;
    const dueMs = nowMs + Math.max(0, Math.ceil(delayMs));
    const entry: Entry = { dueMs, tie: random.next(), order, happening };
    heapPush(heap, entry);
    return () => {
      entry.happening = undefined;
    };
  }

  return {
    nowMs: () => nowMs,
    after,
    trace,
    runUntil: (untilMs) =>
      new Promise((resolve, reject) => {
        let isOver = false;
        const step = () => {
          if (isOver) return;
          try {
            const next = takeUntil(untilMs);
            if (next) return happen(next);
            resolve();
          } catch (error) {
            reject(error);
          }
          isOver = true;
        };
        // Between two immediates Node empties the queue of microtasks, and nothing else runs.
        const turn = () => {
          if (isOver) return;
          for (let event = 0; event < eventsPerTurn; event += 1) setImmediate(step);
          setImmediate(turn);
        };
        turn();
      }),
    freeze(life) {
      life.frozenSinceMs = nowMs;
      frozen.set(life, []);
    },
    thaw(life) {
      if (life.frozenSinceMs === undefined) return;
      if (life.clockStopsFrozen) life.monotonicLagMs = (life.monotonicLagMs ?? 0) + nowMs - life.frozenSinceMs;
      life.frozenSinceMs = undefined;
      for (const entry of frozen.get(life) ?? []) {
        entry.dueMs = nowMs;
        heapPush(heap, entry);
      }
      frozen.delete(life);
    },
    pendingOf: (life) =>
      heap.flatMap(({ happening }) => (happening?.life === life && happening.deliver ? [happening.label] : [])),
    traceHash() {
      hash.update(text, 'latin1');
      text = '';
      return hash.copy().digest('hex').slice(0, 16);
    },
    events: () => count,
  };
}

/** The clock that a process sees. */
export function clockOf(scheduler: Scheduler, life: Life): Clock {
  const aheadMs = () => life.loop?.aheadMs() ?? 0;
  return {
    nowMs: () => worldStartMs + Math.floor(scheduler.nowMs() + aheadMs()) + life.skewMs + (life.stepMs?.() ?? 0),
    monotonicMs: () => scheduler.nowMs() + aheadMs() - (life.monotonicLagMs ?? 0),
    setTimer: (delayMs, callback) =>
      scheduler.after(delayMs + aheadMs(), { label: 'timer', life, kind: 'timer', deliver: callback }),
  };
}

const before = (a: Entry, b: Entry): boolean =>
  a.dueMs !== b.dueMs ? a.dueMs < b.dueMs : a.tie !== b.tie ? a.tie < b.tie : a.order < b.order;

function heapPush(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const parentAt = (at - 1) >> 1;
    const parent = heap[parentAt];
    if (!parent || !before(entry, parent)) break;
    heap[at] = parent;
    at = parentAt;
  }
  heap[at] = entry;
}

function heapPop(heap: Entry[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let childAt = 2 * at + 1;
    let child = heap[childAt];
    if (!child) break;
    const right = heap[childAt + 1];
    if (right && before(right, child)) {
      childAt += 1;
      child = right;
    }
    if (!before(child, last)) break;
    heap[at] = child;
    at = childAt;
  }
  heap[at] = last;
}
