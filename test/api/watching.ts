/** A client that watches, and a source whose events the test sends. */
import assert from 'node:assert/strict';
import { type EventEnvelope, envelopeOf } from '../../shared/bus/bus.ts';
import type { BusEvent } from '../../shared/bus/events.ts';
import { syncRequested } from '../bus/sample-event.ts';
import type { World } from './world.ts';

/** `subscribers`: who listens. What sends resolves when all have taken the event. */
export function eventSource() {
  const subscribers = new Set<(event: EventEnvelope) => Promise<void>>();
  const publish = async (event: BusEvent) => {
    await Promise.all([...subscribers].map((subscriber) => subscriber(envelopeOf(event))));
  };
  return {
    subscribers,
    publish,
    send: (number: number, name?: string) => publish(syncRequested(number, name)),
    watch: (subscriber: (event: EventEnvelope) => Promise<void>) => {
      subscribers.add(subscriber);
      return () => void subscribers.delete(subscriber);
    },
  };
}

/** Opens a stream. `id`: what it says first, the id of its place. */
export async function watching(world: World, query = '', lastEventId?: string) {
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const response = await world.request('GET', `/v1/watch${query}`, undefined, headers);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(reader);
  const { value = '' } = await reader.read();
  const [, id = ''] = /^retry: 1000\nid: (\S+)\n\n$/.exec(value) ?? [];
  assert.notEqual(id, '', value);
  return { reader, id };
}
