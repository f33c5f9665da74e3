/** S8: a hold survives every hand-over: whoever may commit does not probe what is on hold. */
import type { Checker } from './checker.ts';

export const s8: Checker = ({ ledger }, violated) => ({
  probeStarted({ endpoint, prober }) {
    const probed = ledger.probedAt(endpoint);
    const item = probed && ledger.probeItem(probed);
    if (!item?.onHold || item.uid !== probed?.uid) return;
    // A predecessor that was paused may not have heard of it; it cannot commit what it sees.
    if (ledger.tokenOf(prober) !== ledger.epochOf(probed.address.bucket)) return;
    violated(`${prober} probed ${probed.address.prefix}${probed.name}, on hold for ${item.containerID}`);
  },
});
