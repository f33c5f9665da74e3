/**
 * S8: a hold survives every hand-over: the run that may commit does not probe workers on hold. Nor does a look: of the
 * run that asked for it, or of a process that has read what is stored.
 */
import { processOf } from '../fault-log.ts';
import type { ProbeStart } from '../network.ts';
import type { Checker } from './checker.ts';

/** From the read of a target to its probe, in a process that no fault has hit. */
const lookMs = 10_000;

export const s8: Checker = ({ ledger, faults }, violated) => {
  /** The probe on hold that this one is of. */
  const heldOf = ({ endpoint }: ProbeStart) => {
    const probed = ledger.probedAt(endpoint);
    const item = probed && ledger.probeItem(probed);
    return item?.onHold && item.uid === probed?.uid ? { probed, item } : undefined;
  };
  const began = (start: ProbeStart): void => {
    const held = heldOf(start);
    if (!held) return;
    const { probed, item } = held;
    const { address, name } = probed;
    // A paused predecessor may not know the hold; it cannot commit.
    if (ledger.tokenOf(start.prober) !== ledger.epochOf(address.bucket)) return;
    violated(`${start.prober} probed ${address.prefix}${name}, on hold for ${item.containerID}`);
  };
  const looked = (start: ProbeStart): void => {
    const { prober, startMs } = start;
    if (ledger.tokenOf(prober) !== undefined) {
      began(start);
      return;
    }
    const held = heldOf(start);
    if (!held || ledger.probeWrittenMs(held.probed) > startMs - lookMs) return;
    if (faults.during(startMs - lookMs, startMs, processOf(prober)).length > 0) return;
    const { address, name } = held.probed;
    violated(`${prober} looked at ${address.prefix}${name}, on hold for ${held.item.containerID}`);
  };
  return { probeStarted: began, lookStarted: looked };
};
