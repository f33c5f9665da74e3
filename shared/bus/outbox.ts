/**
 * Converts an outbox entry of STATUS, which stores only the detail that differs between events, to an event for the
 * bus.
 */
import type { OutboxEvent, TargetRecord } from '../core/records.ts';
import { type BusEvent, type DetailType, eventSchemas, schemaVersion } from './events.ts';

/** Returns undefined if the entry does not conform to the schema of its detail type. */
export function toBusEvent(target: TargetRecord, event: OutboxEvent): BusEvent | undefined {
  if (!isDetailType(event.detailType)) return undefined;
  const common = {
    schemaVersion,
    id: event.id,
    target: { namespace: target.namespace, name: target.name, uid: target.uid },
  };
  const detail = eventSchemas[event.detailType].safeParse({ ...common, ...withInstants(event.detail as object) });
  if (!detail.success) return undefined;
  return { detailType: event.detailType, timeMs: event.timeMs, detail: detail.data } as BusEvent;
}

const isDetailType = (text: string): text is DetailType => Object.hasOwn(eventSchemas, text);

/** Core represents instants in ms since the epoch, the bus in RFC 3339. */
function withInstants(detail: { readonly failedSinceMs?: number }): object {
  const { failedSinceMs, ...rest } = detail;
  return failedSinceMs === undefined ? rest : { ...rest, failedSince: new Date(failedSinceMs).toISOString() };
}
