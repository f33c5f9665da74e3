/**
 * The part of `HeldProbe` that says when the probe runs. Any code may read it; only the functions of this file write
 * it. Core decides how the ticker changes.
 */
import {
  dueMs,
  holdTick,
  holdTrigger,
  passTime,
  plannedTicker,
  restTicker,
  shiftTicker,
  spaceOut,
  type Ticker,
  takeWake,
} from '../../core/kubelet/ticker.ts';
import { type BacklogClass, backlogClassAfter, type Shortage } from '../../core/self/sockets.ts';

type State = {
  ticker: Ticker;
  inFlight: boolean;
  /** How the probe behaved when it last ran. Decides which probe gets a socket when there are too few. */
  backlogClass: BacklogClass;
  /**
   * The probe could not run when it was due, or its last verdict is void. It runs as soon as possible, and the tick
   * after that keeps its distance.
   */
  pending: boolean;
  /** How many manual triggers of TARGET have been passed on. */
  requestsSeen: number;
  /** How many of them a probe has followed that is in the event history. */
  requestsServed: number;
  /** Attempts in a row that this machine has refused. */
  refusals: number;
};

export type ProbeSchedule = Readonly<State>;

export const newSchedule = (ticker: Ticker, requestsSeen: number): ProbeSchedule => ({
  ticker,
  inFlight: false,
  backlogClass: 'new',
  pending: false,
  requestsSeen,
  requestsServed: requestsSeen,
  refusals: 0,
});

/**
 * A refused attempt is put back so often, and then it is a prober error. At two tries a second that is 40 s, the time
 * after which a late result is unknown. An address of a missing family stays missing, so it is tried for 10 s only.
 */
const refusalsMax: Readonly<Record<Shortage, number>> = { sockets: 80, other: 20 };

/** Counts an attempt that this machine has refused. Returns whether the probe is to be tried again. */
export function refuse(schedule: ProbeSchedule, lacked: Shortage): boolean {
  const state: State = schedule;
  state.refusals += 1;
  return state.refusals <= refusalsMax[lacked];
}

/** Returns when (wall time) the probe is due; Infinity means never. */
export function arm(schedule: ProbeSchedule, nowMs: number): number {
  const state: State = schedule;
  state.ticker = passTime(state.ticker, nowMs);
  return dueMs(state.ticker, nowMs);
}

/** Takes the ready wake and puts the probe in flight. Returns false if none is ready. */
export function begin(schedule: ProbeSchedule, nowMs: number, isTick: boolean): boolean {
  const state: State = schedule;
  const ticker = passTime(state.ticker, nowMs);
  const wake = ticker.triggerHeld ? 'trigger' : ticker.tickHeld ? 'tick' : undefined;
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

/** The probe is due, but there is no socket for it. */
export function postpone(schedule: ProbeSchedule): void {
  const state: State = schedule;
  state.pending = true;
}

/** A tick that came before the run could probe is pending, so that the next one keeps its distance. */
export function makeUp(schedule: ProbeSchedule): void {
  const state: State = schedule;
  if (state.ticker.tickHeld) state.pending = true;
}

/** The probe has to run again: its cycle was abandoned, or released its place before it could probe. */
export function repeat(schedule: ProbeSchedule): void {
  const state: State = schedule;
  state.pending = true;
  state.ticker = holdTick(state.ticker);
}

/** Holds a manual trigger, which may come while the probe is in flight. */
export function trigger(schedule: ProbeSchedule): void {
  const state: State = schedule;
  state.ticker = holdTrigger(state.ticker);
}

/** Replaces the ticker: the period has changed, or a trigger may have been served already. */
export function restart(schedule: ProbeSchedule, ticker: Ticker): void {
  const state: State = schedule;
  state.ticker = ticker;
}

export function seeRequests(schedule: ProbeSchedule, requests: number): void {
  const state: State = schedule;
  state.requestsSeen = Math.max(state.requestsSeen, requests);
}

/** A probe that began after `requests` manual triggers has been recorded. */
export function serveRequests(schedule: ProbeSchedule, requests: number): void {
  const state: State = schedule;
  state.requestsServed = Math.max(state.requestsServed, requests);
}

/** A probe that uses up its time holds its socket for long, so it gets its next socket after all others. */
export function classify(schedule: ProbeSchedule, durationMs: number, timeoutMs: number): void {
  const state: State = schedule;
  state.refusals = 0;
  state.backlogClass = backlogClassAfter(durationMs, timeoutMs);
}

/** Wall time has jumped. The ticker keeps its distance from now. */
export function shiftSchedule(schedule: ProbeSchedule, jumpMs: number, nowMs: number): void {
  const state: State = schedule;
  state.ticker = shiftTicker(state.ticker, jumpMs, nowMs);
}

/** Tick mode: plans the probe to begin at `beginMs` (wall time); undefined means not in this slot. */
export function planAt(schedule: ProbeSchedule, beginMs: number | undefined): void {
  const state: State = schedule;
  state.ticker = beginMs === undefined ? rested(state.ticker) : plannedTicker(state.ticker, beginMs);
}

/** Tick mode: a probe that would begin at once waits until the slot is planned. */
export function holdBack(schedule: ProbeSchedule): void {
  const state: State = schedule;
  if (state.inFlight || !state.ticker.tickHeld) return;
  state.pending = true;
  state.ticker = rested(state.ticker);
}

/** Tick mode: the next run begins with this probe if it was planned and has not begun, or if `isVoid`. */
export function carryOver(schedule: ProbeSchedule, isVoid: boolean): void {
  const state: State = schedule;
  const isLeft = dueMs(state.ticker, 0) !== Number.POSITIVE_INFINITY || isVoid;
  if (state.inFlight || !isLeft) return;
  state.pending = true;
  state.ticker = holdTick(rested(state.ticker));
}

const rested = (ticker: Ticker): Ticker => restTicker(ticker, ticker.resting?.probedAtMs);
