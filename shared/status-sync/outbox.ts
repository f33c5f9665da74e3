/** Publishes the outbox of STATUS on the bus. */
import type { Bus } from '../bus/bus.ts';
import type { BusEvent } from '../bus/events.ts';
import { toBusEvent } from '../bus/outbox.ts';
import type { OutboxEvent, TargetRecord } from '../core/spec/records.ts';
import type { Log } from '../lib/log.ts';

export type OutboxPorts = { readonly bus: Bus; readonly log: Log };

/** The outbox may be cleared only after the bus has taken every event. */
export async function publishOutbox(
  ports: OutboxPorts,
  target: TargetRecord,
  outbox: readonly OutboxEvent[],
): Promise<'published' | 'incomplete' | 'denied'> {
  const { failed, denied } = await ports.bus.publish(outbox.flatMap((event) => busEvent(ports, target, event)));
  if (failed.length === 0) return 'published';
  return denied ? 'denied' : 'incomplete';
}

/** Drops an entry that cannot be read, which would block all that follow. */
function busEvent(ports: OutboxPorts, target: TargetRecord, event: OutboxEvent): readonly BusEvent[] {
  if (event.detailType !== 'Unreadable') return [toBusEvent(target, event)];
  ports.log.error('outbox event dropped: not of its schema', { id: event.id, detailType: event.storedType });
  return [];
}
