/**
 * The instants of alerts across a restart. Steady time starts with each process, so what is kept is by the wall
 * clock, which may be set while no process runs: then no duration is longer than one that begins at the start.
 */
import type { AlertState } from './alert-state.ts';
import type { AlertTime } from './alert-time.ts';
import { groupWindowMs } from './batches.ts';

/** Less is not worth a copy of the state. */
export const clockStepMsMin = 1_000;

/** How far the wall clock is ahead of steady time, because it was set. */
export const aheadMs = ({ wallMs, steadyMs }: AlertTime): number => wallMs - steadyMs;

/** What is to be kept. */
export function byTheWall(state: AlertState, time: AlertTime): AlertState {
  const shiftMs = aheadMs(time);
  const shift = (ms: number) => ms + shiftMs;
  return Math.abs(shiftMs) < clockStepMsMin ? state : moved(state, { past: shift, end: shift });
}

/** What was kept, for a process that has just begun. */
export const continued = (state: AlertState, { steadyMs }: AlertTime): AlertState =>
  moved(state, {
    past: (ms) => Math.min(ms, steadyMs),
    end: (ms) => Math.min(ms, steadyMs + groupWindowMs),
  });

type Moves = { readonly past: (ms: number) => number; readonly end: (ms: number) => number };

function moved(state: AlertState, { past, end }: Moves): AlertState {
  const incidents = Object.entries(state.incidents).map(([key, incident]) => {
    return [key, { ...incident, beganMs: past(incident.beganMs ?? incident.sinceMs) }] as const;
  });
  const batches = Object.entries(state.batches).map(([id, { reportAtMs, reportedMs, ...rest }]) => {
    const window = reportAtMs !== undefined && { reportAtMs: end(reportAtMs) };
    return [id, { ...rest, ...window, ...(reportedMs !== undefined && { reportedMs: past(reportedMs) }) }] as const;
  });
  return { ...state, incidents: Object.fromEntries(incidents), batches: Object.fromEntries(batches) };
}
