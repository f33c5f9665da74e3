import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventEnvelope } from '../../shared/bus/envelope.ts';
import { envelopeOf } from '../../shared/bus/envelope.ts';
import { syncRequested } from '../bus/sample-event.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { apiWorld } from './world.ts';

/** A source whose events the test sends, and that knows who listens. */
function source() {
  const subscribers = new Set<(event: EventEnvelope) => void>();
  return {
    subscribers,
    send: (number: number, name?: string) => {
      for (const subscriber of subscribers) subscriber(envelopeOf(syncRequested(number, name)));
    },
    watch: (subscriber: (event: EventEnvelope) => void) => {
      subscribers.add(subscriber);
      return () => void subscribers.delete(subscriber);
    },
  };
}

async function open(query = '') {
  const events = source();
  const clock = virtualClock();
  const world = apiWorld({ watch: events.watch, clock });
  const response = await world.request('GET', `/v1/watch${query}`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(reader);
  assert.deepEqual(await reader.read(), { done: false, value: 'retry: 1000\n\n' });
  return { events, clock, world, reader };
}

describe('GET /v1/watch', () => {
  test('sends each event as a server-sent event', async () => {
    const { events, reader } = await open();
    events.send(1);
    const envelope = envelopeOf(syncRequested(1));
    const value = `id: event-1\nevent: Target Sync Requested\ndata: ${JSON.stringify(envelope)}\n\n`;
    assert.deepEqual(await reader.read(), { done: false, value });
  });

  test('sends only what the namespace and name ask for', async () => {
    const { events, reader } = await open('?namespace=default&name=b');
    events.send(1, 'a');
    events.send(2, 'b');
    assert.match((await reader.read()).value ?? '', /^id: event-2\n/);
  });

  test('says now and then that it lives, and ends when its time is over', async () => {
    const { events, clock, reader } = await open('?timeoutSeconds=20');
    await clock.advance(15_000);
    assert.deepEqual(await reader.read(), { done: false, value: ':\n\n' });
    await clock.advance(5_000);
    assert.equal((await reader.read()).done, true);
    assert.equal(events.subscribers.size, 0);
  });

  test('ends for a client that leaves', async () => {
    const { events, reader } = await open();
    await reader.cancel();
    await new Promise(setImmediate);
    assert.equal(events.subscribers.size, 0);
  });

  test('ends for a client that is too slow, instead of keeping everything for it', async () => {
    const { events } = await open();
    for (let number = 0; number < 3_000; number += 1) events.send(number);
    assert.equal(events.subscribers.size, 0);
  });

  test('takes a bounded number of clients', async () => {
    const events = source();
    const world = apiWorld({ watch: events.watch, clock: virtualClock() });
    const responses: Response[] = [];
    for (let index = 0; index < 101; index += 1) responses.push(await world.request('GET', '/v1/watch'));
    assert.deepEqual(
      responses.map(({ status }) => status).filter((status) => status !== 200),
      [503],
    );
    await responses[0]?.body?.cancel();
    assert.equal((await world.request('GET', '/v1/watch')).status, 200);
  });

  test('takes fewer clients where the process has few descriptors', async () => {
    const world = apiWorld({ watch: source().watch, clock: virtualClock(), watchersMax: 2 });
    const statuses: number[] = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await world.request('GET', '/v1/watch')).status);
    assert.deepEqual(statuses, [200, 200, 503]);
  });

  test('answers HEAD without a stream', async () => {
    const events = source();
    const response = await apiWorld({ watch: events.watch }).request('HEAD', '/v1/watch');
    assert.equal(response.status, 200);
    assert.equal(events.subscribers.size, 0);
  });

  test('is no route where there is nothing to watch, and 400 for a time that is not valid', async () => {
    assert.equal((await apiWorld().request('GET', '/v1/watch')).status, 404);
    const world = apiWorld({ watch: source().watch });
    assert.equal((await world.request('GET', '/v1/watch?timeoutSeconds=0')).status, 400);
  });
});
