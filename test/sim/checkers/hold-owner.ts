/**
 * A hold belongs to the containerID that it was set for: it is written with the verdict that sets it, and never with
 * another containerID, since the run may end right then. A static target has no runtime to end a hold, so its workers
 * are never on hold.
 */
import type { ProbeRecord } from '../../../shared/core/spec/records.ts';
import { keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import type { Checker } from './checker.ts';

export const holdOwner: Checker = ({ ledger }, violated) => {
  const check = (writer: string, { key, before, after }: Change) => {
    const [old, now] = [before as ProbeRecord | undefined, after as ProbeRecord | undefined];
    if (!old || !now?.onHold || old.uid !== now.uid) return;
    if (ledger.targetOf(now.uid)?.spec.lifecycle === 'static')
      violated(`${writer} put ${key.sk} of a static target on hold`);
    if (old.containerID !== now.containerID)
      violated(`${writer} wrote ${key.sk} with the hold of ${old.containerID} for ${now.containerID}`);
    if (!isVerdict(now)) violated(`${writer} put ${key.sk} on hold with the result ${now.result}`);
  };
  return {
    applied({ writer, changes }) {
      for (const change of changes) if (keyKind(change.key) === 'PROBE') check(writer, change);
    },
  };
};

/** kubelet holds a worker after a failed liveness probe and after any verdict of a startup probe. */
const isVerdict = ({ probeType, result }: ProbeRecord): boolean =>
  result === 'failure' || (probeType === 'startup' && result === 'success');
