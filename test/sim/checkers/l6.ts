/** L6: every restart request is published at least once, and the recovery of each static container that had one. */
import type { StatusRecord, TargetRecord } from '../../../shared/core/spec/records.ts';
import { probeName } from '../../../shared/core/spec/spec.ts';
import { staticContainer } from '../oracle/container-id.ts';
import { keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import { type Checker, isProbed } from './checker.ts';
import { isFailed } from './restarts.ts';

/** After the commit. */
const askedMs = 300_000;

export const l6: Checker = (facts, violated) => {
  const { ledger, nowMs } = facts;
  const published = new Set<string>();
  /** Containers whose requests ended with a success, by uid and name: since when a recovery is due. */
  const recovered = new Map<string, { readonly sinceMs: number; readonly uid: string }>();

  const readStatus = ({ before, after }: Change, timeMs: number) => {
    const [old, now] = [before as StatusRecord | undefined, after as StatusRecord | undefined];
    if (!old || !now) return;
    const target = ledger.targetOf(now.uid);
    if (target?.spec.lifecycle !== 'static' || target.deletionTimestampMs !== undefined) return;
    const probes = ledger.probesOf(target);
    for (const [container, { probeType }] of Object.entries(old.restartRequests)) {
      if (Object.hasOwn(now.restartRequests, container)) continue;
      // A request also ends with its probe, once that has left the spec.
      const found = probes.find(({ probed }) => probed.name === probeName(container, probeType));
      const { containerID } = staticContainer(target, container);
      if (found?.item.result === 'success' && found.item.containerID === containerID)
        recovered.set(`${now.uid}/${container}`, { sinceMs: timeMs, uid: now.uid });
    }
  };
  const settleRecovered = () => {
    for (const [container, { sinceMs, uid }] of recovered) {
      const target = ledger.targetOf(uid);
      if (target && nowMs() - sinceMs <= askedMs) continue;
      recovered.delete(container);
      if (target) violated(`${container} has recovered at ${sinceMs}, and no Container Recovered was published`);
    }
  };
  const settleRequests = (target: TargetRecord) => {
    for (const { probed, item } of ledger.probesOf(target)) {
      if (!isFailed(target, item) || published.has(item.containerID)) continue;
      if (!isProbed(facts, probed, { ...item, onHold: false })) continue;
      if (nowMs() - ledger.probeWrittenMs(probed) > askedMs)
        violated(`${item.containerID} failed, and nobody was asked to restart it`);
    }
  };

  return {
    published({ event }) {
      if (event.detailType === 'Container Restart Requested') published.add(event.detail.containerID);
      if (event.detailType === 'Container Recovered')
        recovered.delete(`${event.detail.target.uid}/${event.detail.container}`);
    },
    applied({ timeMs, changes }) {
      for (const change of changes) if (keyKind(change.key) === 'STATUS') readStatus(change, timeMs);
    },
    settled() {
      settleRecovered();
      for (const target of ledger.targets()) settleRequests(target);
    },
  };
};
