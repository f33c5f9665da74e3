import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { changesKey, targetAddress } from '../../shared/store/records/keys.ts';
import type { Operation, Store } from '../../shared/store/store.ts';
import { targetPath } from '../support/api-client.ts';
import { testsIn } from '../support/tests-in.ts';
import { manyNames } from './many-targets.ts';
import { apiWorld, inRegistered, inWorld, keyOf, losingStore, manifest, startMs, type World } from './world.ts';

const path = targetPath('checkout');

/** A world in which the target is registered; each write by the kinds of its items, and by the change counter. */
const inLogged = testsIn(async () => {
  const writes: string[] = [];
  const wrapStore = (store: Store): Store => ({
    ...store,
    write: (operations, options) => {
      writes.push(operations.map(nameOf).sort().join(' + '));
      return store.write(operations, options);
    },
  });
  const world = apiWorld({ wrapStore });
  await register(world);
  return { world, writes };
});

function nameOf(operation: Operation): string {
  const { pk, sk } = keyOf(operation);
  return `${operation.kind} ${pk === 'CHANGES' ? 'CHANGES' : sk.split('#').slice(2).join('#')}`;
}

async function counter(world: World): Promise<unknown> {
  const { bucket, slice } = targetAddress('default', 'checkout');
  return (await world.store.get(changesKey(bucket)))?.[slice];
}

/** The uid of the target, which is new. */
const register = async (world: World) => (await world.expect(201, 'PUT', path, manifest())).body.metadata.uid;

describe('PUT of a new target', () => {
  test('answers 201 with the target, its defaults and its entity tag', async () => {
    const { etag, warning, body } = await apiWorld().expect(201, 'PUT', path, manifest());
    assert.deepEqual([etag, warning], ['"1"', null]);
    const named = { namespace: 'default', name: 'checkout' };
    assert.partialDeepStrictEqual(body, {
      metadata: { ...named, generation: 1, resourceVersion: '1', creationTimestamp: '2026-01-01T12:00:00.000Z' },
      spec: { host: '127.0.0.1', restartPolicy: 'Always', lifecycle: 'static' },
      status: { phase: 'Running', probes: [{ container: 'main', probeType: 'readiness', version: 0 }] },
    });
  });

  inLogged(
    'creates all items in one transaction, between two moves of the change counter',
    async ({ world, writes }) => {
      const created = 'put PROBE#main#readiness + put STATUS + put TARGET';
      assert.deepEqual(writes, ['update CHANGES', created, 'update CHANGES']);
      assert.equal(await counter(world), 2);
    },
  );

  inWorld('lets a static container run since now', async (world) => {
    const uid = await register(world);
    const state = { kind: 'running', startedAtMs: startMs };
    const containerStatuses = [{ name: 'main', containerID: `probelet://${uid}/main/0`, state }];
    assert.partialDeepStrictEqual(await world.itemOf('checkout', 'STATUS'), { uid, status: { containerStatuses } });
  });

  inWorld('wakes status-sync', async (world) => {
    const uid = await register(world);
    await world.bus.settled();
    const [event, ...others] = world.published;
    assert.deepEqual([event?.['detail-type'], others], ['Target Sync Requested', []]);
    const target = { namespace: 'default', name: 'checkout', uid };
    assert.deepEqual(event?.detail, { schemaVersion: 1, id: event?.detail.id, target, reason: 'TargetWritten' });
  });

  inWorld('with dryRun answers what would be stored, and stores and publishes nothing', async (world) => {
    await world.expect(201, 'PUT', `${path}?dryRun=true`, manifest());
    assert.equal(await world.everything(), 0);
    await world.bus.settled();
    assert.deepEqual(world.published, []);
  });

  inWorld('with a name or namespace that Kubernetes would not take is refused', async (world) => {
    for (const bad of [
      ...['Upper', 'a..b', 'a%2Fb', '%00'].map((name) => targetPath(name)),
      targetPath('x', 'name.space'),
    ])
      await world.expect(422, 'PUT', bad, manifest());
    assert.equal(await world.everything(), 0);
  });
});

describe('PUT of a known target', () => {
  inLogged('without a change keeps the resourceVersion and counts one change', async ({ world, writes }) => {
    writes.length = 0;
    assert.equal((await world.expect(200, 'PUT', path, manifest())).etag, '"1"');
    assert.deepEqual(writes, ['update CHANGES']);
    await world.bus.settled();
    assert.equal(world.published.length, 2);
  });

  inRegistered('what GET shows can be PUT again and changes nothing', async (world) => {
    const { text } = await world.ask('GET', path);
    assert.equal((await world.expect(200, 'PUT', path, text)).etag, '"1"');
  });

  inWorld('with another spec grows generation and resourceVersion', async (world) => {
    const uid = await register(world);
    const { etag, body } = await world.expect(200, 'PUT', path, manifest('127.0.0.2'));
    assert.equal(etag, '"2"');
    assert.partialDeepStrictEqual(body.metadata, { uid, generation: 2, resourceVersion: '2' });
  });

  inRegistered('with other labels grows the resourceVersion only', async (world) => {
    const { body } = await world.ask('PUT', path, { ...manifest(), metadata: { labels: { a: 'b' } } });
    assert.partialDeepStrictEqual(body.metadata, { generation: 1, resourceVersion: '2', labels: { a: 'b' } });
  });

  inLogged('adds PROBE items for new probes and leaves the others as they are', async ({ world, writes }) => {
    writes.length = 0;
    const livenessProbe = { tcpSocket: { port: 8080 } };
    await world.expect(200, 'PUT', path, { spec: { ...manifest().spec, livenessProbe } });
    assert.deepEqual(writes, ['update CHANGES', 'put PROBE#main#liveness + update TARGET', 'update CHANGES']);
  });

  inRegistered('without a probe keeps its item, and takes it up again later', async (world) => {
    await world.expect(200, 'PUT', path, { spec: { host: '127.0.0.1', livenessProbe: { tcpSocket: { port: 8080 } } } });
    const kinds = (await world.items('checkout')).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['PROBE', 'PROBE', 'STATUS', 'TARGET']);
    await world.expect(200, 'PUT', path, manifest());
  });

  inRegistered('keeps manual triggers that were asked for', async (world) => {
    await world.ask('POST', `${path}/probe`);
    await world.ask('PUT', path, manifest('127.0.0.2'));
    assert.deepEqual((await world.itemOf('checkout', 'TARGET'))?.probeRequests, { 'main#readiness': 1 });
  });

  inWorld('with more probes over its life than can be purged is refused', async (world) => {
    const probe = { tcpSocket: { port: 1 } };
    const probes = { readinessProbe: probe, livenessProbe: probe, startupProbe: probe };
    const containers = (prefix: string) => manyNames(20).map((name) => ({ name: `${prefix}${name}`, ...probes }));
    await world.expect(201, 'PUT', path, { spec: { host: '127.0.0.1', containers: containers('a') } });
    await world.expect(422, 'PUT', path, { spec: { host: '127.0.0.1', containers: containers('b') } });
    assert.equal((await world.items('checkout')).length, 62);
  });

  inRegistered('is refused while the target terminates', async (world) => {
    await world.ask('DELETE', path);
    assert.equal((await world.expect(409, 'PUT', path, manifest())).body.type, 'urn:probelet:problem:terminating');
  });
});

describe('preconditions', () => {
  const rows: readonly (readonly [what: string, headers: Record<string, string>, status: number])[] = [
    ['If-Match with the tag', { 'if-match': '"1"' }, 200],
    ['If-Match with one of several tags', { 'if-match': '"7", "1"' }, 200],
    ['If-Match with any', { 'if-match': '*' }, 200],
    ['If-Match with a stale tag', { 'if-match': '"0"' }, 412],
    ['If-Match with a weak tag', { 'if-match': 'W/"1"' }, 412],
    ['If-Match that is no tag', { 'if-match': '1' }, 400],
    ['If-None-Match', { 'if-none-match': '*' }, 412],
    ['If-None-Match with a tag', { 'if-none-match': '"1"' }, 400],
  ];
  for (const [what, headers, status] of rows)
    inRegistered(`${what}: ${status}`, async (world) => {
      const { etag } = await world.expect(status, 'PUT', path, manifest('127.0.0.3'), headers);
      assert.equal(etag, status === 200 ? '"2"' : null);
    });

  inWorld('If-Match for a target that does not exist: 412', async (world) => {
    for (const tag of ['*', '"1"']) await world.expect(412, 'PUT', path, manifest(), { 'if-match': tag });
    assert.equal(await world.everything(), 0);
  });

  inWorld('If-None-Match for a target that does not exist: 201', (world) =>
    world.expect(201, 'PUT', path, manifest(), { 'if-none-match': '*' }),
  );
});

describe('others write at the same time', () => {
  inWorld('of several first PUTs one registers and the others replace', async (world) => {
    const hosts = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'];
    const answers = await Promise.all(hosts.map((host) => world.ask('PUT', path, manifest(host))));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 201]);
    assert.equal((await world.ask('GET', path)).etag, '"4"');
  });

  inWorld('of several first PUTs that must be new one succeeds', async (world) => {
    const put = () => world.ask('PUT', path, manifest(), { 'if-none-match': '*' });
    const statuses = (await Promise.all([put(), put(), put()])).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [201, 412, 412]);
  });

  inRegistered('manual triggers at the same time are all counted', async (world) => {
    await Promise.all(Array.from({ length: 4 }, () => world.ask('POST', `${path}/probe`)));
    assert.deepEqual((await world.itemOf('checkout', 'TARGET'))?.probeRequests, { 'main#readiness': 4 });
  });

  test('a write in doubt that was applied is not done twice', async () => {
    const { lost, wrapStore } = losingStore();
    const { etag } = await apiWorld({ wrapStore }).expect(200, 'PUT', path, manifest());
    assert.deepEqual([etag, lost.next], ['"1"', false]);
  });
});
