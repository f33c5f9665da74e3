import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { EventRecord } from '../../shared/core/spec/records.ts';
import { encodeEvent, encodeLatest } from '../../shared/store/records/items.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { testsIn } from '../support/tests-in.ts';
import { registered, startMs, targetPath, type World } from './world.ts';

const path = targetPath('checkout');

type Events = { readonly items: readonly { readonly message: string }[] };
type Document = { readonly components: { readonly schemas: { readonly Event: { readonly properties: object } } } };

/** What the record of an event and its view have in common. */
const shownOfEvent = (number: number) =>
  ({
    kind: 'transition',
    type: 'Warning',
    reason: 'ProbeResultChanged',
    message: `number ${number}`,
    container: 'main',
    probeType: 'readiness',
    containerID: 'probelet://1/main/0',
    result: 'failure',
    previousResult: 'success',
    count: 1,
  }) as const;
const shownOfAttempt = {
  outcome: 'failure',
  output: 'no',
  failureClass: 'HTTP_STATUS',
  timings: { totalMs: 1.5 },
} as const;

const inEvents = (count: number) =>
  testsIn(async () => {
    const world = await registered();
    const { metadata } = (await world.ask('GET', path)).body;
    const record = (index: number, uid = metadata.uid): EventRecord => ({
      id: `${startMs + index * 1000}#${uid}`,
      uid,
      timeMs: startMs + index * 1000,
      ...shownOfEvent(index),
      attempts: [{ timeMs: startMs + index, ...shownOfAttempt }],
    });
    const put = (event: EventRecord) => world.put(encodeEvent(targetAddress('default', 'checkout'), event));
    for (let index = 0; index < count; index += 1) await put(record(index));
    return { world, put, record };
  });

const eventsOf = async (world: World, query = '') =>
  (await world.expect<Events>(200, 'GET', `${path}/events${query}`)).body;

const messages = async (world: World, query = '') => (await eventsOf(world, query)).items.map(({ message }) => message);

describe('GET …/events', () => {
  inEvents(1)('shows an event with the attempts behind it', async ({ world, record }) => {
    const time = '2026-01-01T12:00:00.000Z';
    const shown = { id: record(0).id, time, ...shownOfEvent(0), attempts: [{ time, ...shownOfAttempt }] };
    assert.deepEqual(await eventsOf(world), { items: [shown] });
  });

  inEvents(0)('has no field that the document of the API does not name', async ({ world, put, record }) => {
    const { previousResult: _, ...first } = record(0);
    await put({ ...first, initial: true });
    const [shown = {}] = (await eventsOf(world)).items;
    const { components } = (await world.ask<Document>('GET', '/openapi.json')).body;
    for (const field of Object.keys(shown)) assert.ok(field in components.schemas.Event.properties, field);
    assert.ok('initial' in shown);
  });

  inEvents(5)('gives the last ones, oldest first', async ({ world }) => {
    assert.deepEqual(await messages(world, '?limit=3'), ['number 2', 'number 3', 'number 4']);
    assert.equal((await messages(world)).length, 5);
  });

  inEvents(5)('gives the transition behind a present result, however old it is', async ({ world, record }) => {
    const at = targetAddress('default', 'checkout');
    const { result: _, ...ended } = record(1);
    await world.put(encodeLatest(at, 'main#liveness', { ...record(-1_000_000), message: 'long ago' }));
    await world.put(encodeLatest(at, 'main#readiness', record(4)));
    await world.put(encodeLatest(at, 'main#startup', { ...ended, id: 'x', message: 'of a worker that has ended' }));
    await world.put(encodeLatest(at, 'gone#startup', record(1, 'uid-of-an-earlier-one')));
    assert.deepEqual(await messages(world, '?limit=2'), ['long ago', 'number 3', 'number 4']);
  });

  inEvents(1)('has only events of the target that has the name now', async ({ world, put, record }) => {
    await put(record(1, 'uid-of-an-earlier-one'));
    assert.deepEqual(await messages(world), ['number 0']);
  });

  inEvents(2)('leaves an event out that cannot be read', async ({ world, record }) => {
    const item = encodeEvent(targetAddress('default', 'checkout'), record(0));
    await world.put({ ...item, attempts: 'rubbish' });
    assert.deepEqual(await messages(world), ['number 1']);
    assert.equal(world.poison.length, 1);
  });

  inEvents(0)('of an unknown target is 404, with a limit that is not valid 400', async ({ world }) => {
    await world.expect(404, 'GET', `${targetPath('nobody')}/events`);
    await world.expect(400, 'GET', `${path}/events?limit=0`);
  });
});
