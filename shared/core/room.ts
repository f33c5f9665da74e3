/**
 * Who may have a socket when there are not enough. Targets that hang hold theirs until the time-out; shared without a rule, they would
 * soon hold all of them and every healthy target would be late.
 */
import { handlerOf, type UncheckedHandlers } from './handlers.ts';

/** What is known of a probe's manners: `new` nothing yet, `hanging` it used up its time when it was last asked. */
export type Manners = 'steady' | 'new' | 'hanging';

/** Descriptors of one process that probes may hold: Lambda gives 1,024, and at the limit nothing works any more. */
export const descriptorsMax = 700;

/** Which part of them may be held by probes of these manners and worse. */
const partOf: Readonly<Record<Manners, number>> = { steady: 1, new: 0.75, hanging: 0.5 };

/** From the best manners to the worst: each may hold what those after it may, and more. */
const mannersInOrder: readonly Manners[] = ['steady', 'new', 'hanging'];

/**
 * What becomes free goes to the probe of the first group that has waited longest. New probes do not come after steady ones: where there are
 * more probes than the process can serve, the steady ones, due again and again, would take every place, and no new one would begin.
 */
export const servedInOrder: readonly (readonly Manners[])[] = [['steady', 'new'], ['hanging']];

export type Taken = { readonly [manners in Manners]: number };

export const nothingTaken: Taken = { steady: 0, new: 0, hanging: 0 };

/** `max`: what all probes together may hold. */
type Asked = { readonly manners: Manners; readonly descriptors: number; readonly max: number };

/** Is there room for one more probe of these manners, which needs so many descriptors? */
export function hasRoom(taken: Taken, { manners, descriptors, max }: Asked): boolean {
  const better = mannersInOrder.slice(0, mannersInOrder.indexOf(manners) + 1);
  return better.every((limit, at) => {
    const noBetter = mannersInOrder.slice(at);
    return noBetter.reduce((sum, name) => sum + taken[name], descriptors) <= partOf[limit] * max;
  });
}

/** File descriptors that a probe in flight may hold. */
export const descriptorsOf = (probe: UncheckedHandlers): number => handlerOf(probe)?.row.descriptors ?? 1;

/** Timers are a little late, and what just made it will hang next time. */
const usedUpPart = 0.9;

/** What a probe that took so long is taken for the next time. */
export const mannersAfter = (durationMs: number, timeoutMs: number): Manners =>
  durationMs >= usedUpPart * timeoutMs ? 'hanging' : 'steady';
