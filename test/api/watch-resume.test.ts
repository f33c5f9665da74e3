import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { BusEvent } from '../../shared/bus/events.ts';
import { StoreUnavailable } from '../../shared/store/store.ts';
import { syncRequested } from '../bus/sample-event.ts';
import { testsIn } from '../support/tests-in.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { eventSource, watching } from './watching.ts';
import { apiWorld, manifest, targetPath, type World } from './world.ts';

type Reader = Awaited<ReturnType<typeof watching>>['reader'];

function watched(overrides: Parameters<typeof apiWorld>[0] = {}) {
  const events = eventSource();
  const clock = virtualClock();
  return { events, clock, world: apiWorld({ watch: events.watch, clock, ...overrides }) };
}

/** The ids of the next events. */
async function ids(reader: Reader, count: number): Promise<readonly string[]> {
  const found: string[] = [];
  while (found.length < count) {
    const { value, done } = await reader.read();
    assert.equal(done, false);
    for (const [, id = ''] of (value ?? '').matchAll(/^id: (.*)\nevent: /gm)) found.push(id);
  }
  return found;
}

async function gone(world: World, lastEventId: string): Promise<void> {
  const { body } = await world.expect(410, 'GET', '/v1/watch', undefined, { 'last-event-id': lastEventId });
  assert.equal(body.type, 'urn:probelet:problem:gone');
}

const inWatched = testsIn(() => watched());

describe('a client that comes back with Last-Event-ID', () => {
  inWatched('gets what it has missed, then what happens', async ({ events, world }) => {
    const first = await watching(world);
    await events.send(1);
    assert.deepEqual(await ids(first.reader, 1), ['event-1']);
    await first.reader.cancel();
    await events.send(2);
    await events.send(3);
    const { reader, id } = await watching(world, '', 'event-1');
    assert.equal(id, 'event-1');
    assert.deepEqual(await ids(reader, 2), ['event-2', 'event-3']);
    await events.send(4);
    assert.deepEqual(await ids(reader, 1), ['event-4']);
  });

  test('has an id before its first event, and a newer one while nothing that it wants happens', async () => {
    const { events, world, clock } = watched();
    const { reader, id } = await watching(world, '?name=wanted');
    await events.send(1, 'wanted');
    assert.deepEqual(await ids((await watching(world, '', id)).reader, 1), ['event-1']);
    assert.deepEqual(await ids(reader, 1), ['event-1']);
    await events.send(2, 'other');
    await clock.advance(15_000);
    assert.deepEqual(await reader.read(), { done: false, value: ':\nid: event-2\n\n' });
  });

  inWatched('gets only what it asks for', async ({ events, world }) => {
    const { id } = await watching(world);
    for (const [number, name] of ['a', 'b', 'a', 'b'].entries()) await events.send(number, name);
    const { reader } = await watching(world, '?name=b', id);
    assert.deepEqual(await ids(reader, 2), ['event-1', 'event-3']);
  });

  inWatched('gets all that is kept, more than may be on its way at once, in its order', async ({ events, world }) => {
    const { id } = await watching(world);
    for (let number = 1; number <= 2_000; number += 1) await events.send(number);
    const { reader } = await watching(world, '', id);
    const expected = Array.from({ length: 2_000 }, (_, index) => `event-${index + 1}`);
    assert.deepEqual(await ids(reader, 2_000), expected);
  });

  inWatched('is 410 when what it has missed is not kept', async ({ events, world }) => {
    const { id } = await watching(world);
    for (let number = 1; number <= 2_001; number += 1) await events.send(number);
    await gone(world, id);
    await watching(world, '', 'event-1');
    await events.send(2_002);
    await gone(world, 'event-1');
    await watching(world, '', 'event-2');
  });

  inWatched('is 410 when its events took too much room', async ({ events, world }) => {
    const { id } = await watching(world);
    const large = (number: number): BusEvent => {
      const event = syncRequested(number);
      return { ...event, detail: { ...event.detail, reason: 'x'.repeat(1_000_000) } } as BusEvent;
    };
    for (let number = 1; number <= 4; number += 1) await events.publish(large(number));
    await (await watching(world, '', id)).reader.cancel();
    await events.publish(large(5));
    await gone(world, id);
    await gone(world, 'never-was');
  });

  inWatched('is 410 after a restart, when nothing of before is kept', async ({ events, world }) => {
    await watching(world);
    await events.send(1);
    await gone(watched().world, 'event-1');
  });

  inWatched('without an id begins with what happens next', async ({ events, world }) => {
    await watching(world);
    await events.send(1);
    const { reader } = await watching(world, '', '');
    await events.send(2);
    assert.deepEqual(await ids(reader, 1), ['event-2']);
  });

  test('finds its place by any id, also one with a line break, which ends no line of the stream', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), async (text) => {
        const { events, world } = watched();
        const { reader } = await watching(world);
        const event = syncRequested(1);
        await events.publish({ ...event, detail: { ...event.detail, id: `a\nevent: forged\n\n${text}` } } as BusEvent);
        const { value = '' } = await reader.read();
        assert.match(value, /^id: .*\nevent: .*\ndata: .*\n\n$/);
        const [, id = ''] = /^id: ([\x21-\x7e]+)\n/.exec(value) ?? [];
        await events.send(2);
        assert.deepEqual(await ids((await watching(world, '', id)).reader, 1), ['event-2']);
      }),
      { numRuns: 50 },
    );
  });
});

/** An event about the target that has the name now. */
async function about(world: World, name: string, number: number): Promise<BusEvent> {
  const { uid } = (await world.ask('GET', targetPath(name))).body.metadata;
  const event = syncRequested(number, name);
  return { ...event, detail: { ...event.detail, target: { namespace: 'default', name, uid } } } as BusEvent;
}

const register = (world: World, name: string, labels: Readonly<Record<string, string>>) =>
  world.ask('PUT', targetPath(name), { ...manifest(), metadata: { labels } });

describe('a watch by labelSelector', () => {
  inWatched('gets the events of targets whose labels match, and no others', async ({ events, world }) => {
    await register(world, 'a', { app: 'shop' });
    await register(world, 'b', { app: 'cart' });
    const { reader } = await watching(world, '?labelSelector=app%3Dshop');
    const negated = await watching(world, '?labelSelector=app!%3Dshop');
    await events.publish(await about(world, 'b', 1));
    await events.send(2, 'unknown');
    await events.publish({
      detailType: 'Prober Degraded',
      timeMs: 0,
      detail: { schemaVersion: 1, id: 'event-3', shard: '00-ff', hashRange: '00-ff', reason: 'NoHolder' },
    } as unknown as BusEvent);
    await events.publish(await about(world, 'a', 4));
    assert.deepEqual(await ids(reader, 1), ['event-4']);
    await events.publish(await about(world, 'b', 5));
    assert.deepEqual(await ids(negated.reader, 2), ['event-1', 'event-5']);
  });

  inWatched('goes by the labels of the moment', async ({ events, world }) => {
    await register(world, 'a', { app: 'shop' });
    const { reader } = await watching(world, '?labelSelector=app%3Dcart');
    await events.publish(await about(world, 'a', 1));
    await register(world, 'a', { app: 'cart' });
    await events.publish(await about(world, 'a', 2));
    assert.deepEqual(await ids(reader, 1), ['event-2']);
  });

  test('gets the last events of a target that is gone by its last labels, not by those of a later one', async () => {
    const { events, world } = watched();
    await register(world, 'a', { app: 'shop' });
    const { reader, id } = await watching(world, '?labelSelector=app%3Dshop');
    const [first, last] = [await about(world, 'a', 1), await about(world, 'a', 2)];
    await events.publish(first);
    await world.remove('a');
    await register(world, 'a', { app: 'cart' });
    await events.publish(last);
    await events.publish(await about(world, 'a', 3));
    assert.deepEqual(await ids(reader, 2), ['event-1', 'event-2']);
    const resumed = await watching(world, '?labelSelector=app%3Dcart', id);
    assert.deepEqual(await ids(resumed.reader, 1), ['event-3']);
  });

  test('loses no event for others while labels cannot be read', async () => {
    const { events, world } = watched({
      wrapStore: (store) => ({ ...store, get: () => Promise.reject(new StoreUnavailable('down')) }),
    });
    const { reader } = await watching(world);
    await events.send(1);
    assert.deepEqual(await ids(reader, 1), ['event-1']);
    assert.equal(world.log.lines.at(-1)?.level, 'warn');
  });

  test('that is none is 400', async () =>
    void (await watched().world.expect(400, 'GET', '/v1/watch?labelSelector=a%20b')));
});
