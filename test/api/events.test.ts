import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventRecord } from '../../shared/core/records.ts';
import { encodeEvent, encodeLatest } from '../../shared/store/items.ts';
import { targetAddress } from '../../shared/store/keys.ts';
import { apiWorld, manifest, startMs, targetPath } from './world.ts';

const path = targetPath('checkout');

type OpenApi = {
  readonly components: { readonly schemas: { readonly Event: { readonly properties: object } } };
};

async function withEvents(count: number) {
  const world = apiWorld();
  const response = await world.request('PUT', path, { body: manifest() });
  const { metadata } = (await response.json()) as { readonly metadata: { readonly uid: string } };
  const record = (index: number, uid = metadata.uid): EventRecord => ({
    id: `${startMs + index * 1000}#${uid}`,
    uid,
    timeMs: startMs + index * 1000,
    kind: 'transition',
    type: 'Warning',
    reason: 'ProbeResultChanged',
    message: `number ${index}`,
    container: 'main',
    probeType: 'readiness',
    containerID: 'probelet://1/main/0',
    result: 'failure',
    previousResult: 'success',
    count: 1,
    attempts: [
      {
        timeMs: startMs + index,
        outcome: 'failure',
        output: 'no',
        failureClass: 'HTTP_STATUS',
        timings: { totalMs: 1.5 },
      },
    ],
  });
  const put = (event: EventRecord) =>
    world.store.write([{ kind: 'put', item: encodeEvent(targetAddress('default', 'checkout'), event) }], {
      token: event.id,
    });
  for (let index = 0; index < count; index += 1) await put(record(index));
  return { world, put, record };
}

async function messages(world: Awaited<ReturnType<typeof withEvents>>['world'], query = '') {
  const response = await world.request('GET', `${path}/events${query}`);
  assert.equal(response.status, 200);
  const { items } = (await response.json()) as { readonly items: readonly { readonly message: string }[] };
  return items.map(({ message }) => message);
}

describe('GET …/events', () => {
  test('shows an event with the attempts behind it', async () => {
    const { world, record } = await withEvents(1);
    const response = await world.request('GET', `${path}/events`);
    assert.deepEqual(await response.json(), {
      items: [
        {
          id: record(0).id,
          time: '2026-01-01T12:00:00Z',
          kind: 'transition',
          type: 'Warning',
          reason: 'ProbeResultChanged',
          message: 'number 0',
          container: 'main',
          probeType: 'readiness',
          containerID: 'probelet://1/main/0',
          result: 'failure',
          previousResult: 'success',
          count: 1,
          attempts: [
            {
              time: '2026-01-01T12:00:00Z',
              outcome: 'failure',
              output: 'no',
              failureClass: 'HTTP_STATUS',
              timings: { totalMs: 1.5 },
            },
          ],
        },
      ],
    });
  });

  test('has no field that the document of the API does not name', async () => {
    const { world, put, record } = await withEvents(0);
    const { previousResult: _, ...first } = record(0);
    await put({ ...first, initial: true });
    const { items } = (await (await world.request('GET', `${path}/events`)).json()) as {
      readonly items: readonly object[];
    };
    const { components } = (await (await world.request('GET', '/openapi.json')).json()) as OpenApi;
    const known = Object.keys(components.schemas.Event.properties);
    assert.deepEqual(
      Object.keys(items[0] ?? {}).filter((field) => !known.includes(field)),
      [],
    );
    assert.ok(items[0] && 'initial' in items[0]);
  });

  test('gives the last ones, oldest first', async () => {
    const { world } = await withEvents(5);
    assert.deepEqual(await messages(world, '?limit=3'), ['number 2', 'number 3', 'number 4']);
    assert.equal((await messages(world)).length, 5);
  });

  test('gives the transition behind a present result, however old it is', async () => {
    const { world, record } = await withEvents(5);
    const at = targetAddress('default', 'checkout');
    const { result: _, ...ended } = record(1);
    const latest = [
      encodeLatest(at, 'main#liveness', { ...record(-1_000_000), message: 'long ago' }),
      encodeLatest(at, 'main#readiness', record(4)),
      encodeLatest(at, 'main#startup', { ...ended, id: 'x', message: 'of a worker that has ended' }),
      encodeLatest(at, 'gone#startup', record(1, 'uid-of-an-earlier-one')),
    ];
    const operations = latest.map((item) => ({ kind: 'put', item }) as const);
    await world.store.write(operations, { token: 'latest' });
    assert.deepEqual(await messages(world, '?limit=2'), ['long ago', 'number 3', 'number 4']);
  });

  test('tells only of the target that has the name now', async () => {
    const { world, put, record } = await withEvents(1);
    await put(record(1, 'uid-of-an-earlier-one'));
    assert.deepEqual(await messages(world), ['number 0']);
  });

  test('leaves an event out that cannot be read', async () => {
    const { world, record } = await withEvents(2);
    const item = encodeEvent(targetAddress('default', 'checkout'), record(0));
    await world.store.write([{ kind: 'put', item: { ...item, attempts: 'rubbish' } }], { token: 'poison' });
    assert.deepEqual(await messages(world), ['number 1']);
    assert.equal(world.poison.length, 1);
  });

  test('of an unknown target is 404, with a limit that is not valid 400', async () => {
    const { world } = await withEvents(0);
    assert.equal((await world.request('GET', `${targetPath('nobody')}/events`)).status, 404);
    assert.equal((await world.request('GET', `${path}/events?limit=0`)).status, 400);
  });
});
