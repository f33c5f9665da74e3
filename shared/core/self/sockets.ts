/**
 * The socket budget: which probes get a socket when there are too few. Targets that hang keep theirs until the
 * time-out; without a rule they would soon hold all sockets, and every healthy target would be late.
 */
import { handlerOf, type UncheckedHandlers } from '../spec/handlers.ts';

/** Backlog class of a probe: `new` has not been probed yet, `hanging` used up its time when it was last probed. */
export type BacklogClass = 'steady' | 'new' | 'hanging';

/**
 * Descriptors that the probes of one process may hold. Lambda allows 1,024, and at that limit nothing works any more.
 */
export const descriptorsMax = 700;

/** The part of the budget that this class and the worse ones may hold together. */
const partOf: Readonly<Record<BacklogClass, number>> = { steady: 1, new: 0.75, hanging: 0.5 };

/** From the worst class to the best: each may use what the classes before it may, and more. */
const classesFromWorst: readonly BacklogClass[] = ['hanging', 'new', 'steady'];

/**
 * A free socket goes to the probe of the first group that has waited longest. New probes are not ranked behind steady
 * ones: with more probes than the process can serve, steady ones, which are due again and again, would take every
 * socket, and no new probe would begin.
 */
export const servedInOrder: readonly (readonly BacklogClass[])[] = [['steady', 'new'], ['hanging']];

export type Taken = { readonly [backlogClass in BacklogClass]: number };

export const nothingTaken: Taken = { steady: 0, new: 0, hanging: 0 };

/** `max`: descriptors that all probes together may hold. */
type Asked = { readonly backlogClass: BacklogClass; readonly descriptors: number; readonly max: number };

/** Whether one more probe of this class, which needs so many descriptors, fits in the budget. */
export function fitsBudget(taken: Taken, { backlogClass, descriptors, max }: Asked): boolean {
  let [sum, isAsked] = [descriptors, false];
  // From the worst class to the best: what each class and those after it hold, from the asked one on.
  for (const limit of classesFromWorst) {
    sum += taken[limit];
    isAsked ||= limit === backlogClass;
    if (isAsked && sum > partOf[limit] * max) return false;
  }
  return true;
}

/** File descriptors that a probe in flight may hold. */
export const descriptorsOf = (probe: UncheckedHandlers): number => handlerOf(probe)?.row.descriptors ?? 1;

/** Timers are a little late, and a probe that barely finished will hang next time. */
const usedUpPart = 0.9;

/** The class of a probe after an attempt of this duration. */
export const backlogClassAfter = (durationMs: number, timeoutMs: number): BacklogClass =>
  durationMs >= usedUpPart * timeoutMs ? 'hanging' : 'steady';
