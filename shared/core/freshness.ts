/** When a result is too old to be shown: by the same rule where it is read and where the holder lists what is late. */
import { tickSlotMs } from './slots.ts';

const staleAfterMsMin = 40_000;
const stalePeriods = 3;

/** A result whose probe was last done longer ago than this is not known any more. `tick`: no probe is done more often than once a slot. */
export function staleAfterMs(periodSeconds: number, tick = false): number {
  const periodMs = Math.max(periodSeconds * 1000, tick ? tickSlotMs : 0);
  return Math.max(staleAfterMsMin, stalePeriods * periodMs);
}

/** Names of late probes in a beat; more than these, and nothing of the shard is known to be fresh. */
export const lateMax = 100;

export type Late = {
  readonly late: readonly string[];
  readonly lateOverflow: boolean;
};

/** What a beat says of these late probes. */
export const boundedLate = (names: readonly string[]): Late => ({
  late: names.slice(0, lateMax),
  lateOverflow: names.length > lateMax,
});

/** How a late probe is named in a beat. */
export const lateName = (target: { readonly namespace: string; readonly name: string }, probe: string): string =>
  `${target.namespace}/${target.name}#${probe}`;
