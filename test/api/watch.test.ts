import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { envelopeOf } from '../../shared/bus/bus.ts';
import { syncRequested } from '../bus/sample-event.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { eventSource, watching } from './watching.ts';
import { apiWorld, type World } from './world.ts';

async function open(query = '') {
  const events = eventSource();
  const clock = virtualClock();
  const world = apiWorld({ watch: events.watch, clock, watchersMax: 1 });
  const { reader, id } = await watching(world, query);
  return { events, clock, world, reader, id };
}

/** Whether the place of the one client that may watch is free again. */
async function isFree(world: World): Promise<boolean> {
  const response = await world.request('GET', '/v1/watch');
  await response.body?.cancel();
  return response.status === 200;
}

describe('GET /v1/watch', () => {
  test('sends each event as a server-sent event', async () => {
    const { events, reader } = await open();
    await events.send(1);
    const envelope = envelopeOf(syncRequested(1));
    const value = `id: event-1\nevent: Target Sync Requested\ndata: ${JSON.stringify(envelope)}\n\n`;
    assert.deepEqual(await reader.read(), { done: false, value });
  });

  test('sends only what the namespace and name ask for', async () => {
    const { events, reader } = await open('?namespace=default&name=b');
    await events.send(1, 'a');
    await events.send(2, 'b');
    assert.match((await reader.read()).value ?? '', /^id: event-2\n/);
  });

  test('says now and then that it lives, and ends when its time is over', async () => {
    const { world, clock, reader, id } = await open('?timeoutSeconds=20');
    await clock.advance(15_000);
    assert.deepEqual(await reader.read(), { done: false, value: `:\nid: ${id}\n\n` });
    await clock.advance(5_000);
    assert.equal((await reader.read()).done, true);
    assert.equal(await isFree(world), true);
  });

  test('ends for a client that leaves', async () => {
    const { world, reader } = await open();
    await reader.cancel();
    await new Promise(setImmediate);
    assert.equal(await isFree(world), true);
  });

  test('ends for a client that is too slow, instead of keeping everything for it', async () => {
    const { events, world } = await open();
    for (let number = 0; number < 3_000; number += 1) await events.send(number);
    assert.equal(await isFree(world), true);
  });

  test('takes a bounded number of clients', async () => {
    const events = eventSource();
    const world = apiWorld({ watch: events.watch, clock: virtualClock() });
    const responses: Response[] = [];
    for (let index = 0; index < 101; index += 1) responses.push(await world.request('GET', '/v1/watch'));
    const statuses = responses.map(({ status }) => status);
    assert.deepEqual(statuses.toSorted(), [...Array(100).fill(200), 503]);
    await responses[0]?.body?.cancel();
    assert.equal((await world.request('GET', '/v1/watch')).status, 200);
  });

  test('takes fewer clients where the process has few descriptors', async () => {
    const world = apiWorld({ watch: eventSource().watch, clock: virtualClock(), watchersMax: 2 });
    const statuses: number[] = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await world.request('GET', '/v1/watch')).status);
    assert.deepEqual(statuses, [200, 200, 503]);
  });

  test('lets the one that has lasted longest give way to a new one, which misses nothing', async () => {
    const clock = virtualClock();
    const events = eventSource();
    const world = apiWorld({ watch: events.watch, clock, watchersMax: 2 });
    const ask = async () => (await world.request('GET', '/v1/watch')).status;
    const first = await world.request('GET', '/v1/watch');
    await clock.advance(9_000);
    assert.equal(await ask(), 200);
    assert.equal(await ask(), 503, 'both are new');
    await clock.advance(1_000);
    assert.equal(await ask(), 200, 'the first one has lasted for 10 s');
    assert.match(await first.text(), /id: /, 'the first one has ended, at a place to come back to');
    assert.equal(await ask(), 503, 'the others have not');
    await clock.advance(3_600_000);
    for (let turn = 0; turn < 5; turn += 1) assert.equal(await ask(), turn < 2 ? 200 : 503);
  });

  test('answers HEAD without a stream', async () => {
    const events = eventSource();
    const response = await apiWorld({ watch: events.watch }).request('HEAD', '/v1/watch');
    assert.equal(response.status, 200);
    assert.equal(events.subscribers.size, 0);
  });

  test('is no route where there is nothing to watch, and 400 for a time that is not valid', async () => {
    await apiWorld().expect(404, 'GET', '/v1/watch');
    await apiWorld({ watch: eventSource().watch }).expect(400, 'GET', '/v1/watch?timeoutSeconds=0');
  });
});
