/**
 * Pressed: where the table has no capacity left, all processes together ask for little more than it gives. What asks
 * again at once takes capacity from what would be next, and a load like that never ends.
 */
import type { Checker } from './checker.ts';

/** Ticks of the checkers, ten seconds each. A holder halves its rate within the first seconds. */
const windowTicks = 6;
/**
 * Calls that are throttled for each one that is admitted, while the table takes half a minute for each mass failure:
 * 0.8 at most as it should be, and 2.9 without pauses.
 */
const shareMax = 1.5;
/** Fewer calls say nothing. */
const callsMin = 60;

export const pressed: Checker = ({ calls }, violated) => {
  const seen: { readonly admitted: number; readonly throttled: number }[] = [];
  return {
    ticked() {
      const now = { ...calls };
      seen.push(now);
      const before = seen.length > windowTicks ? seen.shift() : undefined;
      if (!before) return;
      const [throttled, admitted] = [now.throttled - before.throttled, now.admitted - before.admitted];
      if (throttled + admitted < callsMin || throttled <= shareMax * admitted) return;
      violated(`${throttled} calls were throttled in a minute in which ${admitted} were admitted`);
    },
  };
};
