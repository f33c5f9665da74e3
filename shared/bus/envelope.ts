/** What a subscriber gets: EventBridge's envelope. Region and account are left out where there is none. */
import type { Json } from '../lib/json.ts';
import { type BusEvent, eventSource } from './events.ts';

export type EventEnvelope = {
  readonly version: '0';
  /** The event's own stable id; on AWS the bus gives another one here, and `detail.id` is the stable one. */
  readonly id: string;
  readonly source: typeof eventSource;
  readonly 'detail-type': BusEvent['detailType'];
  /** RFC 3339, whole seconds, as EventBridge writes it. */
  readonly time: string;
  readonly detail: BusEvent['detail'];
};

/** The envelope of an event, copied: whoever changes it harms nobody. */
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

/** For the pattern language, which sees plain JSON. */
export const envelopeJson = (envelope: EventEnvelope): Json => envelope as unknown as Json;
