/** A computed status becomes durable, and what it has to tell is told. */
import type { SyncPlan } from '../core/sync.ts';
import { encodeEvent } from '../store/items.ts';
import type { Operation } from '../store/store.ts';
import { type OutboxPorts, publishOutbox } from './outbox.ts';
import type { ReadTarget } from './read-target.ts';
import { statusUpdate } from './status-update.ts';
import { type WritePorts, writeSurely } from './write.ts';

/** The safe way: write, publish, clear, ack. */
export async function writeStatus(
  ports: WritePorts & OutboxPorts,
  state: ReadTarget,
  plan: Extract<SyncPlan, { kind: 'write' }>,
): Promise<'written' | 'incomplete' | 'raced'> {
  const { address, target, status: old } = state;
  const { record, acked } = plan;
  const quiet = record.outbox.length === 0;
  const first = quiet ? { ...record, acked } : record;
  const events = plan.events.map((event): Operation => ({ kind: 'put', item: encodeEvent(address, event) }));
  const written = await writeSurely(ports, [statusUpdate(state, first, old.version), ...events]);
  if (written.kind !== 'written') return 'raced';
  if (quiet) return 'written';

  if (!(await publishOutbox(ports, target, record.outbox))) return 'incomplete';
  const cleared = { ...record, version: record.version + 1, outbox: [], acked };
  const clearing = await writeSurely(ports, [statusUpdate(state, cleared, record.version)]);
  return clearing.kind === 'written' ? 'written' : 'raced';
}
