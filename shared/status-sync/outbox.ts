/** Publishes the outbox of STATUS on the bus. */
import type { Bus } from '../bus/bus.ts';
import { type BusEvent, schemaVersion } from '../bus/events.ts';
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

/** An entry that can be read. */
type ReadableEvent = Exclude<OutboxEvent, { readonly detailType: 'Unreadable' }>;

/** The whole event for the bus. An entry stores only the detail that differs between events. */
export function toBusEvent({ namespace, name, uid }: TargetRecord, event: ReadableEvent): BusEvent {
  const { id, timeMs } = event;
  const common = { schemaVersion, id, target: { namespace, name, uid } } as const;
  switch (event.detailType) {
    case 'Target Status Changed':
      return { detailType: event.detailType, timeMs, detail: { ...common, ...event.detail } };
    case 'Container Restart Requested':
      return { detailType: event.detailType, timeMs, detail: { ...common, ...event.detail } };
    case 'Container Recovered': {
      // Core represents instants in ms since the epoch, the bus in RFC 3339.
      const { failedSinceMs, ...detail } = event.detail;
      const failedSince = new Date(failedSinceMs).toISOString();
      return { detailType: event.detailType, timeMs, detail: { ...common, ...detail, failedSince } };
    }
  }
}
