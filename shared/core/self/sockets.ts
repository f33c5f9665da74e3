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

/**
 * Whether one more probe of this class, which needs this many descriptors, fits in the budget. `max`: descriptors that
 * all probes together may hold.
 */
export function fitsBudget(taken: Taken, backlogClass: BacklogClass, descriptors: number, max: number): boolean {
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

// How many descriptors the machine lets the probes of a process hold. It is learned from refusals: a refusal lowers the
// limit to less than what is held at that moment, and without refusals it rises in steps to what was configured.

export type SocketLimit = {
  readonly max: number;
  /** What was held at the last refusal. */
  readonly refusedAt: number;
  /** Monotonic time of the last refusal or step. */
  readonly sinceMs: number;
};

export const notRefused = (max: number): SocketLimit => ({ max, refusedAt: 0, sinceMs: 0 });

/** No refusal lowers the limit further: enough for one command that hangs, which may use half of it. */
export const socketsMin = 8;
/** Part of what is held that becomes free, for what is no probe: canaries, DNS, connections to the API, files. */
const sparePart = 1 / 8;
const spareMin = 4;

const stepMs = 10_000;
/** A step, as a part of the limit: careful up to the last refusal, which is then met about once a minute. */
const carefulStep = 1 / 32;
/** With more than was held at the last refusal the machine evidently carries more: minutes for all of 700. */
const boldStep = 1 / 8;

/** The limit after the machine has refused a socket while probes hold `held` descriptors. It never rises. */
export function afterRefusal({ max }: Pick<SocketLimit, 'max'>, held: number, nowMs: number): SocketLimit {
  const carried = held - Math.max(spareMin, Math.ceil(held * sparePart));
  return { max: Math.min(max, Math.max(socketsMin, carried)), refusedAt: held, sinceMs: nowMs };
}

/** The limit after the steps that are due; the same object if none is. `configuredMax`: it rises no further. */
export function risen(limit: SocketLimit, configuredMax: number, nowMs: number): SocketLimit {
  const steps = Math.floor((nowMs - limit.sinceMs) / stepMs);
  if (steps < 1) return limit;
  let { max } = limit;
  for (let step = 0; step < steps && max < configuredMax; step += 1)
    max += Math.ceil(max * (max < limit.refusedAt ? carefulStep : boldStep));
  return { ...limit, max: Math.min(max, configuredMax), sinceMs: limit.sinceMs + steps * stepMs };
}

// What the prober's own machine lacks when it refuses a socket or a process. Nothing of that is the target's fault, and
// all of it may be over a moment later.

/**
 * `sockets`: with fewer sockets in flight there is enough. `other`: fewer sockets do not help, because it is local
 * ports for one peer, an address of the peer's family, or processes.
 */
export type Shortage = 'sockets' | 'other';

const shortages: Readonly<Record<string, Shortage>> = {
  EMFILE: 'sockets',
  ENFILE: 'sockets',
  ENOBUFS: 'sockets',
  ENOMEM: 'sockets',
  EAGAIN: 'other',
  EADDRNOTAVAIL: 'other',
};

/** The shortage that a system error code names; undefined: none. */
export const shortageOf = (code: string | undefined): Shortage | undefined =>
  code !== undefined && Object.hasOwn(shortages, code) ? shortages[code] : undefined;
