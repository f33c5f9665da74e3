/** S8: a hold survives every hand-over: the run that may commit does not probe workers on hold. */
import type { Checker } from './checker.ts';

export const s8: Checker = ({ ledger }, violated) => ({
  probeStarted({ endpoint, prober }) {
    const probed = ledger.probedAt(endpoint);
    const item = probed && ledger.probeItem(probed);
    if (!item?.onHold || item.uid !== probed?.uid) return;
    // A paused predecessor may not know the hold; it cannot commit.
    if (ledger.tokenOf(prober) !== ledger.epochOf(probed.address.bucket)) return;
    violated(`${prober} probed ${probed.address.prefix}${probed.name}, on hold for ${item.containerID}`);
  },
});
