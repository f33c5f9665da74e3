/** L6: every restart request reaches the bus at least once. */
import type { StatusRecord, TargetRecord } from '../../../shared/core/records.ts';
import { staticContainerID } from '../oracle/container-id.ts';
import { keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import { type Checker, isProbed } from './checker.ts';

/** After the commit. */
const askedMs = 300_000;

export const l6: Checker = (facts, violated) => {
  const { ledger, nowMs } = facts;
  const published = new Set<string>();
  /** Static containers that were restarted, by containerID. */
  const restarted = new Map<string, { readonly sinceMs: number; readonly uid: string }>();

  const readStatus = ({ before, after }: Change, timeMs: number) => {
    const [old, now] = [before as StatusRecord | undefined, after as StatusRecord | undefined];
    for (const [container, { restartCount }] of Object.entries(now?.incarnations ?? {})) {
      if (!now || restartCount <= (old?.incarnations[container]?.restartCount ?? restartCount)) continue;
      restarted.set(staticContainerID(now.uid, container, restartCount - 1), { sinceMs: timeMs, uid: now.uid });
    }
  };
  const settleRestarted = () => {
    for (const [containerID, { sinceMs, uid }] of restarted) {
      const isOver = published.has(containerID) || !ledger.targetOf(uid);
      if (!isOver && nowMs() - sinceMs <= askedMs) continue;
      restarted.delete(containerID);
      if (!isOver) violated(`${containerID} was restarted at ${sinceMs}, and nobody was asked to`);
    }
  };
  const settleReported = (target: TargetRecord) => {
    for (const { probed, item } of ledger.probesOf(target)) {
      const isFailed = item.onHold && item.result === 'failure' && item.probeType !== 'readiness';
      if (!isFailed || published.has(item.containerID) || !isProbed(facts, probed, { ...item, onHold: false }))
        continue;
      if (nowMs() - ledger.probeWrittenMs(probed) > askedMs)
        violated(`${item.containerID} failed, and nobody was asked to restart it`);
    }
  };

  return {
    published({ event }) {
      if (event.detailType === 'Container Restart Requested') published.add(event.detail.containerID);
    },
    applied({ timeMs, changes }) {
      for (const change of changes) if (keyKind(change.key) === 'STATUS') readStatus(change, timeMs);
    },
    settled() {
      settleRestarted();
      for (const target of ledger.targets()) if (target.spec.lifecycle === 'reported') settleReported(target);
    },
  };
};
