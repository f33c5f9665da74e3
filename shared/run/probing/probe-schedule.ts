/**
 * When a held probe runs: the part of `HeldProbe` that says it. Any code may read it; only the functions of this file write it. What
 * the ticker becomes is decided in core.
 */
import { type BacklogClass, backlogClassAfter } from '../../core/socket-budget.ts';
import {
  dueMs,
  holdTick,
  holdTrigger,
  passTime,
  plannedTicker,
  readyWakes,
  restTicker,
  shiftTicker,
  spaceOut,
  type Ticker,
  takeWake,
} from '../../core/ticker.ts';

type State = {
  ticker: Ticker;
  /** Which entry of the timer heap is the valid one. */
  wake: number;
  inFlight: boolean;
  /** How the probe behaved the last time it ran: decides which probe gets a socket when there are few. */
  backlogClass: BacklogClass;
  /**
   * The probe could not run when it was due, or its last verdict is void. It runs as soon as it can, and its next tick keeps its
   * distance.
   */
  pending: boolean;
  /** Manual triggers of TARGET that have been passed on. */
  requestsSeen: number;
};

export type ProbeSchedule = Readonly<State>;

export const newSchedule = (ticker: Ticker, requestsSeen: number): ProbeSchedule => ({
  ticker,
  wake: 0,
  inFlight: false,
  backlogClass: 'new',
  pending: false,
  requestsSeen,
});

/** Makes all earlier entries of the timer heap void. Returns when (wall time) the probe is due; Infinity: never. */
export function arm(schedule: ProbeSchedule, nowMs: number): number {
  const state: State = schedule;
  state.wake += 1;
  state.ticker = passTime(state.ticker, nowMs);
  return dueMs(state.ticker, nowMs);
}

/** Takes the wake that is ready and puts the probe in flight; false: none is ready. */
export function begin(schedule: ProbeSchedule, nowMs: number, isTick: boolean): boolean {
  const state: State = schedule;
  const ticker = passTime(state.ticker, nowMs);
  const wake = readyWakes(ticker).at(-1);
  if (!wake) return false;
  const next = takeWake(ticker, wake, nowMs);
  state.ticker = isTick ? restTicker(next, nowMs) : state.pending ? spaceOut(next, nowMs) : next;
  state.pending = false;
  state.inFlight = true;
  return true;
}

export function land(schedule: ProbeSchedule): void {
  const state: State = schedule;
  state.inFlight = false;
}

/** The probe is due and there is no socket for it. */
export function postpone(schedule: ProbeSchedule): void {
  const state: State = schedule;
  state.pending = true;
}

/** The probe has to run again: its cycle was abandoned, or gave its place back before it could probe. */
export function repeat(schedule: ProbeSchedule): void {
  const state: State = schedule;
  state.pending = true;
  state.ticker = holdTick(state.ticker);
}

/** A manual trigger, also while the probe is in flight. */
export function trigger(schedule: ProbeSchedule): void {
  const state: State = schedule;
  state.ticker = holdTrigger(state.ticker);
}

/** The period has changed, or a trigger has perhaps been served already. */
export function restart(schedule: ProbeSchedule, ticker: Ticker): void {
  const state: State = schedule;
  state.ticker = ticker;
}

export function seeRequests(schedule: ProbeSchedule, requests: number): void {
  const state: State = schedule;
  state.requestsSeen = Math.max(state.requestsSeen, requests);
}

/** A probe that uses up its time holds its socket for long, so it gets the next one after all others. */
export function classify(schedule: ProbeSchedule, durationMs: number, timeoutMs: number): void {
  const state: State = schedule;
  state.backlogClass = backlogClassAfter(durationMs, timeoutMs);
}

/** Wall time jumped: the ticker keeps its distance from now. */
export function shiftSchedule(schedule: ProbeSchedule, jumpMs: number, nowMs: number): void {
  const state: State = schedule;
  state.ticker = shiftTicker(state.ticker, jumpMs, nowMs);
}

/** Tick mode: the probe begins then (wall time); undefined: not in this slot. */
export function planAt(schedule: ProbeSchedule, beginMs: number | undefined): void {
  const state: State = schedule;
  state.ticker = beginMs === undefined ? rested(state.ticker) : plannedTicker(state.ticker, beginMs);
}

/** Tick mode: what the probe would begin with at once waits until the slot is planned. */
export function holdBack(schedule: ProbeSchedule): void {
  const state: State = schedule;
  if (state.inFlight || !readyWakes(state.ticker).includes('tick')) return;
  state.pending = true;
  state.ticker = rested(state.ticker);
}

/** Tick mode: the next run begins with this probe, if it was planned and has not begun, or if `isVoid`. */
export function carryOver(schedule: ProbeSchedule, isVoid: boolean): void {
  const state: State = schedule;
  const isLeft = dueMs(state.ticker, 0) !== Number.POSITIVE_INFINITY || isVoid;
  if (state.inFlight || !isLeft) return;
  state.pending = true;
  state.ticker = holdTick(rested(state.ticker));
}

const rested = (ticker: Ticker): Ticker => restTicker(ticker, ticker.resting?.probedAtMs);
