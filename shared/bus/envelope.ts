/** What a subscriber receives: EventBridge's envelope, without region and account. */
import type { Json } from '../lib/json.ts';
import { type BusEvent, eventSource } from './events.ts';

export type EventEnvelope = {
  readonly version: '0';
  /** The event's stable id. On AWS the bus sets a different id here, and the stable one is `detail.id`. */
  readonly id: string;
  readonly source: typeof eventSource;
  readonly 'detail-type': BusEvent['detailType'];
  /** RFC 3339 with whole seconds, as EventBridge formats it. */
  readonly time: string;
  readonly detail: BusEvent['detail'];
};

/** Returns the envelope of an event. It is a copy, so a subscriber may modify it. */
export function envelopeOf(event: BusEvent): EventEnvelope {
  return {
    version: '0',
    id: event.detail.id,
    source: eventSource,
    'detail-type': event.detailType,
    time: new Date(event.timeMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    detail: JSON.parse(JSON.stringify(event.detail)),
  };
}

/** Converts to plain JSON, on which patterns operate. */
export const envelopeJson = (envelope: EventEnvelope): Json => envelope as unknown as Json;
