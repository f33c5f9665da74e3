/** L6: every restart request reaches the bus at least once. */
import type { StatusRecord } from '../../../shared/core/records.ts';
import { staticContainerID } from '../../../shared/core/static-lifecycle.ts';
import { keyKind } from '../store.ts';
import { type Checker, isProbed } from './checker.ts';

/** After the commit. */
const askedMs = 300_000;

type Asked = { readonly sinceMs: number; readonly why: string };

export const l6: Checker = (facts, violated) => {
  const { ledger, nowMs } = facts;
  const published = new Set<string>();
  /** By containerID. */
  const wanted = new Map<string, Asked & { readonly uid: string }>();
  return {
    published({ event }) {
      if (event.detailType === 'Container Restart Requested') published.add(event.detail.containerID);
    },
    applied({ timeMs, changes }) {
      for (const { key, before, after } of changes) {
        if (keyKind(key) !== 'STATUS' || !before || !after) continue;
        const [old, now] = [before as unknown as StatusRecord, after as unknown as StatusRecord];
        for (const [container, { restartCount }] of Object.entries(now.incarnations)) {
          if (restartCount <= (old.incarnations[container]?.restartCount ?? restartCount)) continue;
          const containerID = staticContainerID(now.uid, container, restartCount - 1);
          wanted.set(containerID, { sinceMs: timeMs, uid: now.uid, why: 'was restarted' });
        }
      }
    },
    settled() {
      const alive = new Set([...ledger.targets()].map(({ uid }) => uid));
      for (const [containerID, { sinceMs, uid, why }] of wanted) {
        if (published.has(containerID) || !alive.has(uid)) wanted.delete(containerID);
        else if (nowMs() - sinceMs > askedMs) {
          wanted.delete(containerID);
          violated(`${containerID} ${why} at ${sinceMs}, and nobody was asked to`);
        }
      }
      for (const target of ledger.targets()) {
        if (target.deletionTimestampMs !== undefined || target.spec.lifecycle !== 'reported') continue;
        for (const { probed, item } of ledger.probesOf(target)) {
          const isFailed = item.onHold && item.result === 'failure' && item.probeType !== 'readiness' && !item.ended;
          const isRunning = isProbed(facts, probed, { ...item, onHold: false });
          if (!isFailed || !isRunning || published.has(item.containerID)) continue;
          if (nowMs() - ledger.probeWrittenMs(probed) > askedMs)
            violated(`${item.containerID} failed, and nobody was asked to restart it`);
        }
      }
    },
  };
};
