/**
 * L1: once faults have stopped and every shard has a holder, each committed change or a newer one is delivered in 60 s.
 */
import type { ProbeRecord, StatusRecord } from '../../../shared/core/spec/records.ts';
import { statusKey, targetAddress } from '../../../shared/store/records/keys.ts';
import { keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import { type Checker, recoveryMs } from './checker.ts';

const deliveredMs = 60_000;

type Open = { readonly sinceMs: number; readonly version: number };

export const l1: Checker = ({ table, ledger, faults, nowMs }, violated) => {
  /** By PROBE item, the oldest change that STATUS has not taken in. */
  const open = new Map<string, Open>();

  const committed = ({ key, before, after }: Change, timeMs: number) => {
    const [old, now] = [before as ProbeRecord | undefined, after as ProbeRecord | undefined];
    if (!now) open.delete(key.sk);
    else if (old && now.version > old.version && !open.has(key.sk))
      open.set(key.sk, { sinceMs: timeMs, version: now.version });
  };
  const delivered = ({ key, after }: Change) => {
    const prefix = key.sk.slice(0, -'STATUS'.length);
    const status = after as StatusRecord | undefined;
    for (const [name, version] of Object.entries(status?.acked ?? {})) {
      const sk = `${prefix}PROBE#${name}`;
      if (version >= (open.get(sk)?.version ?? Number.POSITIVE_INFINITY)) open.delete(sk);
    }
  };

  return {
    applied({ timeMs, changes }) {
      for (const change of changes) {
        const kind = keyKind(change.key);
        if (kind === 'PROBE') committed(change, timeMs);
        if (kind === 'STATUS') delivered(change);
      }
    },
    ticked() {
      const calmMs = faults.calmSinceMs();
      if (calmMs === undefined) return;
      for (const [sk, { sinceMs, version }] of open) {
        const dueMs = Math.max(sinceMs, calmMs + recoveryMs) + deliveredMs;
        if (nowMs() <= dueMs) continue;
        open.delete(sk);
        violated(`version ${version} of ${sk}, committed at ${sinceMs}, was not delivered by ${dueMs}`);
      }
    },
    settled() {
      for (const { namespace, name } of ledger.targets()) {
        const status = table.get(statusKey(targetAddress(namespace, name))) as StatusRecord | undefined;
        const oldest = status?.outbox.find(({ timeMs }) => timeMs < ledger.wallMs() - 3 * deliveredMs);
        if (oldest) violated(`${name} still has ${oldest.id} of ${oldest.timeMs} in its outbox`);
      }
    },
  };
};
