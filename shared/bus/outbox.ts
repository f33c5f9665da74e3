/** From an outbox entry of STATUS, whose detail is what differs between events, to an event as the bus takes it. */
import type { OutboxEvent, TargetRecord } from '../core/records.ts';
import { type BusEvent, type DetailType, eventSchemas, schemaVersion } from './events.ts';

/** undefined: the entry does not have the form that its detail-type promises. */
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

/** Core knows instants as milliseconds, the bus as RFC 3339. */
function withInstants(detail: { readonly failedSinceMs?: number }): object {
  const { failedSinceMs, ...rest } = detail;
  return failedSinceMs === undefined ? rest : { ...rest, failedSince: new Date(failedSinceMs).toISOString() };
}
