/**
 * L7: a holder notices changes: in good health a worker's result is of the container that runs now, and the liveness
 * and startup workers of a terminating target have ended.
 */

import type { ProbeRecord, StatusRecord, TargetRecord } from '../../../shared/core/spec/records.ts';
import { statusKey } from '../../../shared/store/records/keys.ts';
import type { Probed } from '../ledger.ts';
import { keyKind } from '../store.ts';
import { type Checker, type Facts, lockAftermathMs, readAllMs, recoveryMs, runningContainer } from './checker.ts';
import { spacingMs } from './tick.ts';

/** Two looks at the change counters, the reload, and a commit. */
const takenUpMs = 30_000;

export const l7: Checker = (facts, violated) => {
  const { ledger, nowMs } = facts;
  /** By uid, when the target or its report last changed. */
  const changed = new Map<string, number>();
  const look = (target: TargetRecord, healthyMs: number) => {
    const sinceMs = Math.max(changed.get(target.uid) ?? 0, healthyMs);
    if (nowMs() - sinceMs < takenUpMs) return;
    for (const { probed, item } of ledger.probesOf(target)) {
      const wrong = missedBy(facts, { target, probed, item });
      if (wrong === undefined || nowMs() - sinceMs < allowedMs(facts, probed)) continue;
      changed.set(target.uid, nowMs());
      violated(`${probed.address.prefix}${probed.name} ${wrong}, changed at ${sinceMs} at the latest`);
    }
  };
  return {
    applied({ timeMs, changes }) {
      for (const { key, after } of changes) {
        const kind = keyKind(key);
        if ((kind === 'TARGET' || kind === 'REPORT') && after) changed.set(String(after.uid), timeMs);
      }
    },
    ticked() {
      const healthyMs = healthySinceMs(facts);
      if (nowMs() - healthyMs < takenUpMs) return;
      for (const target of ledger.targets()) look(target, healthyMs);
    },
  };
};

const healthLookMs = 1_200_000;

/** Since when no fault affects the holders. Faults of status-sync and the API keep no holder from reading. */
function healthySinceMs({ faults, nowMs }: Facts): number {
  // A group may be locked for longer than the product needs to recover from all other faults.
  if (faults.lockedMs() > nowMs() - lockAftermathMs) return nowMs();
  const calmMs = faults.calmSinceMs();
  if (calmMs !== undefined) return calmMs + recoveryMs;
  const ofHolders = faults
    .during(nowMs() - healthLookMs, nowMs())
    .filter(({ process }) => process === undefined || /^(worker|schedule)/.test(process));
  return Math.max(nowMs() - healthLookMs, ...ofHolders.map(({ untilMs }) => untilMs + recoveryMs));
}

/** A worker adopts another container with its next probe, up to a period after the change was seen. */
const allowedMs = (facts: Facts, probed: Probed): number =>
  takenUpMs + (facts.computingTakesTime ? readAllMs : 0) + spacingMs(facts, probed);

type Looked = { readonly target: TargetRecord; readonly probed: Probed; readonly item: ProbeRecord };

function missedBy(facts: Facts, { target, probed, item }: Looked): string | undefined {
  const { address, probe } = probed;
  const status = facts.table.get(statusKey(address)) as StatusRecord | undefined;
  const isOver = status?.status.phase === 'Failed' || status?.status.phase === 'Succeeded';
  const isTerminating = target.deletionTimestampMs !== undefined;
  if (isOver || item.uid !== target.uid) return undefined;
  const current = runningContainer(facts, probed);
  if (!current) return undefined;
  if (isTerminating) {
    const continues = probe.probeType === 'readiness' || probe.container.kind === 'restartableInit';
    return continues || item.ended ? undefined : 'has not ended with its target';
  }
  if (item.ended) return 'has ended';
  return item.containerID === current.containerID
    ? undefined
    : `is of ${item.containerID}, not of ${current.containerID}`;
}
