/**
 * The loop of a run: one heap of what is due, one timer. A probe is in flight at most once; what its ticker holds meanwhile comes right
 * after. Targets are in the same heap: the holder is their timekeeper.
 */
import { dueMs, passTime, readyWakes, takeWake } from '../core/ticker.ts';
import { dueHeap } from '../lib/heap.ts';
import { StoreUnavailable } from '../store/store.ts';
import type { HeldProbe, HeldTarget } from './held.ts';
import type { Run } from './run.ts';

/** Sockets of one process: Lambda gives 1,024 descriptors, and at the limit nothing works any more. */
export const inFlightMax = 700;
/** How soon a probe that found no room looks again. */
const noRoomMs = 100;
/** The timer never sleeps longer, so that a wall clock that jumped is seen. */
const timerMaxMs = 1_000;
/** After a look at a target that failed. */
const tendAgainMs = 2_000;
/** A probe that has been due for longer than this is late: its target may be older than it looks. */
const lateAfterMs = 1_000;

type Entry =
  | { readonly kind: 'probe'; readonly held: HeldTarget; readonly probe: HeldProbe; readonly wake: number }
  | { readonly kind: 'target'; readonly held: HeldTarget; readonly wake: number };

export type Steps = {
  readonly cycle: (held: HeldTarget, probe: HeldProbe) => Promise<void>;
  readonly tend: (held: HeldTarget) => Promise<void>;
};

/** `dueMs`: since when it has waited. */
export type LateProbe = { readonly name: string; readonly dueMs: number };

export type Loop = {
  start(steps: Steps): void;
  schedule(held: HeldTarget, probe: HeldProbe): void;
  scheduleTarget(held: HeldTarget, dueMs: number): void;
  inFlight(): number;
  /** The probe that has waited longest, if it is late. */
  late(): readonly LateProbe[];
  /** Begins nothing more; resolves when nothing is in flight. */
  stopped(): Promise<void>;
};

export function startLoop(run: Run): Loop {
  const { clock, log } = run.ports;
  const heap = dueHeap<Entry>();
  const working = new Set<Promise<void>>();
  /** Probes that found no room, in the order in which they came. */
  const waiting = new Map<HeldProbe, LateProbe & { readonly held: HeldTarget }>();
  let steps: Steps | undefined;
  let cancelTimer: (() => void) | undefined;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let probing = 0;
  let stopping = false;

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
    const nowMs = clock.nowMs();
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
    if (probing >= inFlightMax) return wait(held, probe, nowMs);
    waiting.delete(probe);
    const ticker = passTime(probe.ticker, nowMs);
    const wake = readyWakes(ticker).at(-1);
    if (!wake) return schedule(held, probe);
    probe.ticker = takeWake(ticker, wake, nowMs);
    probe.inFlight = true;
    probing += 1;
    track(cycle(held, probe));
  };

  const wait = (held: HeldTarget, probe: HeldProbe, nowMs: number) => {
    if (!waiting.has(probe)) waiting.set(probe, { held, name: nameOf(held, probe), dueMs: nowMs });
    push(nowMs + noRoomMs, { kind: 'probe', held, probe, wake: probe.wake });
  };

  /** Of those the one that came first; a target that has gone waits no longer. */
  const firstWaiting = (): LateProbe | undefined => {
    for (const [probe, { held, ...late }] of waiting) {
      if (!held.gone) return late;
      waiting.delete(probe);
    }
    return undefined;
  };

  const firstDue = (): LateProbe | undefined => {
    const next = heap.peek();
    if (next?.entry.kind !== 'probe' || !isCurrent(next.entry)) return undefined;
    return { name: nameOf(next.entry.held, next.entry.probe), dueMs: next.dueMs };
  };

  const cycle = async (held: HeldTarget, probe: HeldProbe) => {
    try {
      await steps?.cycle(held, probe);
    } finally {
      probe.inFlight = false;
      probing -= 1;
      schedule(held, probe);
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
    probe.wake += 1;
    const nowMs = clock.nowMs();
    probe.ticker = passTime(probe.ticker, nowMs);
    push(dueMs(probe.ticker, nowMs), { kind: 'probe', held, probe, wake: probe.wake });
  };

  const scheduleTarget = (held: HeldTarget, at: number) => {
    if (held.gone || stopping) return;
    held.wake += 1;
    push(at, { kind: 'target', held, wake: held.wake });
  };

  return {
    start(given) {
      steps = given;
      arm();
    },
    schedule,
    scheduleTarget,
    inFlight: () => probing,
    late() {
      const oldest = firstWaiting() ?? firstDue();
      return oldest && clock.nowMs() - oldest.dueMs > lateAfterMs ? [oldest] : [];
    },
    async stopped() {
      stopping = true;
      cancelTimer?.();
      while (working.size > 0) await Promise.all(working);
    },
  };
}

const nameOf = (held: HeldTarget, probe: HeldProbe): string =>
  `${held.target.namespace}/${held.target.name}#${probe.name}`;

const isCurrent = (entry: Entry): boolean =>
  (entry.kind === 'probe' ? entry.probe.wake : entry.held.wake) === entry.wake;
