/**
 * The bus port, implemented by EventBridge and in process. Delivery is at least once and unordered, so a consumer reads
 * the current state and never relies on the payload. `publish` retries rejected events and returns the indices of those
 * that were never accepted.
 */

import type { Json } from '../lib/json.ts';
import { type BusEvent, eventSource } from './events.ts';

export type PublishOutcome = {
  /** Indices of the events that the bus did not accept after bounded retries. Empty if all are on the bus. */
  readonly failed: readonly number[];
  /** Some events failed because the caller lacks a permission. The adapter has logged it. */
  readonly denied?: true;
};

export type PublishOptions = {
  /** When aborted, events that are not on the bus yet count as failed. */
  readonly signal?: AbortSignal;
};

export interface Bus {
  publish(events: readonly BusEvent[], options?: PublishOptions): Promise<PublishOutcome>;
}

/** What a subscriber receives: EventBridge's envelope, without region and account. */
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
