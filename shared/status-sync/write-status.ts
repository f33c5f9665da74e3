/** Writes a computed status and publishes its events. */

import type { StatusRecord } from '../core/spec/records.ts';
import type { ProbeName } from '../core/spec/spec.ts';
import { entryName } from '../core/status/outbox.ts';
import type { SyncPlan } from '../core/status/sync.ts';
import { encodeEvent, encodeStatus, updateTo } from '../store/records/items.ts';
import type { Operation } from '../store/store.ts';
import type { ReadTarget } from '../table/targets.ts';
import { type WritePorts, writeSurely } from '../table/write.ts';
import { type OutboxPorts, publishOutbox } from './outbox.ts';

/**
 * In the safe order: write, publish, clear, ack. Published entries are added to `published`, for a caller that has to
 * clear them later because another sync has written in between.
 */
export async function writeStatus(
  ports: WritePorts & OutboxPorts,
  state: ReadTarget,
  { published, ...plan }: Extract<SyncPlan, { kind: 'write' }> & { readonly published: Set<string> },
): Promise<'written' | 'incomplete' | 'denied' | 'raced'> {
  const { address, target, status: old } = state;
  const { record, publish, acked } = plan;
  const quiet = record.outbox.length === 0;
  const first = quiet ? { ...record, acked } : record;
  const events = plan.events.map((event): Operation => ({ kind: 'put', item: encodeEvent(address, event) }));
  const written = await writeSurely(ports, [statusUpdate(state, first, old.version), ...events]);
  if (written.kind !== 'written') return 'raced';
  if (publish.length === 0) return 'written';

  const outcome = await publishOutbox(ports, target, publish);
  if (outcome !== 'published') return outcome;
  for (const event of publish) published.add(entryName(event));
  const outbox = record.outbox.filter((event) => !published.has(entryName(event)));
  const cleared = { ...record, version: record.version + 1, outbox, ...(outbox.length === 0 && { acked }) };
  const clearing = await writeSurely(ports, [statusUpdate(state, cleared, record.version)]);
  return clearing.kind === 'written' ? 'written' : 'raced';
}

/**
 * Written on condition that STATUS has not changed since it was read: of two syncs that read the same one, only one
 * writes.
 */
export function statusUpdate(
  { address, target }: ReadTarget,
  record: ReadTarget['status'],
  versionRead: number,
): Operation {
  return {
    ...updateTo(encodeStatus(address, record)),
    if: [
      { kind: 'equals', attribute: 'uid', value: target.uid },
      { kind: 'equals', attribute: 'version', value: versionRead },
    ],
  };
}

/** Whether status-sync has taken in this version of a PROBE item. An ack covers all earlier versions. */
export const isAcked = ({ acked }: Pick<StatusRecord, 'acked'>, name: ProbeName, version: number): boolean =>
  (acked[name] ?? 0) >= version;
