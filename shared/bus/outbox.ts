/**
 * Converts an outbox entry of STATUS, which stores only the detail that differs between events, to an event for the
 * bus.
 */
import type { OutboxEvent, TargetRecord } from '../core/spec/records.ts';
import { type BusEvent, schemaVersion } from './events.ts';

/** An entry that can be read. */
type ReadableEvent = Exclude<OutboxEvent, { readonly detailType: 'Unreadable' }>;

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
