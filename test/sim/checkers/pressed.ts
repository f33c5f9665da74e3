/**
 * Pressed: where the table has no capacity left, all processes together ask for little more than it gives, and holders
 * for little at once. What asks again at once, or for as much as before, takes capacity from what would be next, and a
 * load like that never ends. Beats are left out: they are tried again soon whatever the load is, and are the smallest
 * writes.
 */
import { keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import type { Checker } from './checker.ts';

/** Ticks of the checkers, ten seconds each. A holder halves its rate within the first seconds. */
const windowTicks = 6;
/**
 * Calls that are throttled for each one that is admitted, while the table takes half a minute for each mass failure:
 * 1.0 at most as it should be, and 2.9 without pauses.
 */
const shareMax = 1.5;
/** Fewer calls say nothing. */
const callsMin = 60;

/** A tick with as many throttled calls is scarce; after so many of them in a row every holder has found its rate. */
const scarceCalls = 20;
const scarceTicks = 4;
/** Items of one transaction by then: 6 at most as it should be, up to 99 of a holder that asks as if nothing were. */
const itemsMax = 24;
/** A new holder begins at its full rate. */
const findingMs = 40_000;

export const pressed: Checker = ({ calls, nowMs }, violated) => {
  const seen: (typeof calls)[] = [];
  let claimedMs = Number.NEGATIVE_INFINITY;
  let largest = 0;
  let scarce = 0;

  const lookAtSizes = (throttled: number): void => {
    scarce = throttled < scarceCalls ? 0 : scarce + 1;
    if (scarce >= scarceTicks && largest > itemsMax && claimedMs < nowMs() - findingMs)
      violated(`a transaction had ${largest} items, although the table was scarce for ${scarce} looks`);
    largest = 0;
  };

  return {
    applied({ timeMs, changes }) {
      if (changes.some(isClaim)) claimedMs = timeMs;
      if (changes.some(({ key }) => keyKind(key) === 'PROBE')) largest = Math.max(largest, changes.length);
    },
    ticked() {
      const now = { ...calls };
      const last = seen.at(-1) ?? now;
      seen.push(now);
      lookAtSizes(throttledSince(last, now));
      const before = seen.length > windowTicks ? seen.shift() : undefined;
      if (!before) return;
      const [throttled, admitted] = [throttledSince(before, now), now.admitted - before.admitted];
      if (throttled + admitted < callsMin || throttled <= shareMax * admitted) return;
      violated(`${throttled} calls were throttled in a minute in which ${admitted} were admitted`);
    },
  };
};

type Throttled = { readonly throttled: number; readonly throttledOfRun: number };

const throttledSince = (before: Throttled, now: Throttled): number =>
  now.throttled - before.throttled - (now.throttledOfRun - before.throttledOfRun);

const isClaim = ({ key, before, after }: Change): boolean => keyKind(key) === 'RUN' && before?.token !== after?.token;
