import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { changesKey, targetAddress } from '../../shared/store/keys.ts';
import type { Operation, Store } from '../../shared/store/store.ts';
import { apiWorld, manifest, startMs, targetPath, type World } from './world.ts';

const path = targetPath('checkout');

/** How often each kind of item was written, and the change counter between. */
function writeLog() {
  const writes: string[] = [];
  const wrapStore = (store: Store): Store => ({
    ...store,
    write: (operations, options) => {
      writes.push(operations.map(nameOf).sort().join(' + '));
      return store.write(operations, options);
    },
  });
  return { writes, wrapStore };
}

function nameOf(operation: Operation): string {
  const { pk, sk } = operation.kind === 'put' ? operation.item : operation.key;
  return `${operation.kind} ${pk === 'CHANGES' ? 'CHANGES' : sk.split('#').slice(2).join('#')}`;
}

async function counter(world: World): Promise<unknown> {
  const { bucket, slice } = targetAddress('default', 'checkout');
  return (await world.store.get(changesKey(bucket)))?.[slice];
}

async function register(world: World, body: unknown = manifest()) {
  const response = await world.request('PUT', path, { body });
  assert.equal(response.status, 201);
  return (await response.json()) as { readonly metadata: { readonly uid: string } };
}

describe('PUT of a new target', () => {
  test('answers 201 with the target, its defaults and its entity tag', async () => {
    const world = apiWorld();
    const response = await world.request('PUT', path, { body: manifest() });
    assert.equal(response.status, 201);
    assert.equal(response.headers.get('etag'), '"1"');
    assert.equal(response.headers.get('warning'), null);
    const { metadata, spec, status } = (await response.json()) as Record<string, never>;
    assert.partialDeepStrictEqual(metadata, {
      namespace: 'default',
      name: 'checkout',
      generation: 1,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T12:00:00Z',
    });
    assert.partialDeepStrictEqual(spec, { host: '127.0.0.1', restartPolicy: 'Always', lifecycle: 'static' });
    assert.partialDeepStrictEqual(status, {
      phase: 'Running',
      probes: [{ container: 'main', probeType: 'readiness', version: 0 }],
    });
  });

  test('creates TARGET, STATUS and every PROBE item in one transaction, between two moves of the change counter', async () => {
    const { writes, wrapStore } = writeLog();
    const world = apiWorld({ wrapStore });
    await register(world);
    assert.deepEqual(writes, [
      'update CHANGES',
      'put PROBE#main#readiness + put STATUS + put TARGET',
      'update CHANGES',
    ]);
    assert.equal(await counter(world), 2);
  });

  test('lets a static container run since now', async () => {
    const world = apiWorld();
    const { metadata } = await register(world);
    const [status] = (await world.items('checkout')).filter(({ kind }) => kind === 'STATUS');
    assert.partialDeepStrictEqual(status, {
      uid: metadata.uid,
      status: {
        containerStatuses: [
          {
            name: 'main',
            containerID: `probelet://${metadata.uid}/main/0`,
            state: { kind: 'running', startedAtMs: startMs },
          },
        ],
      },
    });
  });

  test('wakes status-sync', async () => {
    const world = apiWorld();
    const { metadata } = await register(world);
    await world.bus.settled();
    assert.deepEqual(
      world.published.map((event) => [event['detail-type'], event.detail]),
      [
        [
          'Target Sync Requested',
          {
            schemaVersion: 1,
            id: world.published[0]?.detail.id,
            target: { namespace: 'default', name: 'checkout', uid: metadata.uid },
            reason: 'TargetWritten',
          },
        ],
      ],
    );
  });

  test('with dryRun answers what would be stored, and stores and publishes nothing', async () => {
    const world = apiWorld();
    const response = await world.request('PUT', `${path}?dryRun=true`, { body: manifest() });
    assert.equal(response.status, 201);
    assert.equal(await world.everything(), 0);
    await world.bus.settled();
    assert.deepEqual(world.published, []);
  });

  test('with a name or namespace that Kubernetes would not take is refused', async () => {
    const world = apiWorld();
    for (const bad of [
      targetPath('Upper'),
      targetPath('a..b'),
      targetPath('x', 'name.space'),
      targetPath('a%2Fb'),
      targetPath('%00'),
    ]) {
      const response = await world.request('PUT', bad, { body: manifest() });
      assert.equal(response.status, 422, bad);
    }
    assert.equal(await world.everything(), 0);
  });
});

describe('PUT of a known target', () => {
  test('that changes nothing answers 200, keeps the resourceVersion and writes only the change counter', async () => {
    const { writes, wrapStore } = writeLog();
    const world = apiWorld({ wrapStore });
    await register(world);
    writes.length = 0;
    const response = await world.request('PUT', path, { body: manifest() });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('etag'), '"1"');
    assert.deepEqual(writes, ['update CHANGES']);
    await world.bus.settled();
    assert.equal(world.published.length, 2);
  });

  test('what GET shows can be PUT again and changes nothing', async () => {
    const world = apiWorld();
    await register(world);
    const shown = await (await world.request('GET', path)).text();
    const response = await world.request('PUT', path, { body: shown });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('etag'), '"1"');
  });

  test('with another spec grows generation and resourceVersion', async () => {
    const world = apiWorld();
    const { metadata } = await register(world);
    const response = await world.request('PUT', path, { body: manifest('127.0.0.2') });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('etag'), '"2"');
    const shown = (await response.json()) as { readonly metadata: object };
    assert.partialDeepStrictEqual(shown.metadata, { uid: metadata.uid, generation: 2, resourceVersion: '2' });
  });

  test('with other labels grows the resourceVersion only', async () => {
    const world = apiWorld();
    await register(world);
    const response = await world.request('PUT', path, { body: { ...manifest(), metadata: { labels: { a: 'b' } } } });
    const shown = (await response.json()) as { readonly metadata: object };
    assert.partialDeepStrictEqual(shown.metadata, { generation: 1, resourceVersion: '2', labels: { a: 'b' } });
  });

  test('adds PROBE items for new probes and leaves those that exist alone', async () => {
    const { writes, wrapStore } = writeLog();
    const world = apiWorld({ wrapStore });
    await register(world);
    writes.length = 0;
    const { spec } = manifest();
    const more = { spec: { ...spec, livenessProbe: { tcpSocket: { port: 8080 } } } };
    assert.equal((await world.request('PUT', path, { body: more })).status, 200);
    assert.deepEqual(writes, ['update CHANGES', 'put PROBE#main#liveness + update TARGET', 'update CHANGES']);
  });

  test('without a probe keeps its item, and takes it up again later', async () => {
    const world = apiWorld();
    await register(world);
    const other = { spec: { host: '127.0.0.1', livenessProbe: { tcpSocket: { port: 8080 } } } };
    assert.equal((await world.request('PUT', path, { body: other })).status, 200);
    const kinds = (await world.items('checkout')).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['PROBE', 'PROBE', 'STATUS', 'TARGET']);
    assert.equal((await world.request('PUT', path, { body: manifest() })).status, 200);
  });

  test('keeps manual triggers that were asked for', async () => {
    const world = apiWorld();
    await register(world);
    await world.request('POST', `${path}/probe`);
    await world.request('PUT', path, { body: manifest('127.0.0.2') });
    const [target] = (await world.items('checkout')).filter(({ kind }) => kind === 'TARGET');
    assert.deepEqual(target?.probeRequests, { 'main#readiness': 1 });
  });

  test('with more probes over its life than can be purged is refused', async () => {
    const world = apiWorld();
    const names = (prefix: string) => Array.from({ length: 20 }, (_, index) => `${prefix}${index}`);
    const probe = { tcpSocket: { port: 1 } };
    const body = (prefix: string) => ({
      spec: {
        host: '127.0.0.1',
        containers: names(prefix).map((name) => ({
          name,
          readinessProbe: probe,
          livenessProbe: probe,
          startupProbe: probe,
        })),
      },
    });
    assert.equal((await world.request('PUT', path, { body: body('a') })).status, 201);
    const response = await world.request('PUT', path, { body: body('b') });
    assert.equal(response.status, 422);
    assert.equal((await world.items('checkout')).length, 62);
  });

  test('is refused while the target terminates', async () => {
    const world = apiWorld();
    await register(world);
    await world.request('DELETE', path);
    const response = await world.request('PUT', path, { body: manifest() });
    assert.equal(response.status, 409);
    assert.equal(((await response.json()) as { type: string }).type, 'urn:probelet:problem:terminating');
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
    test(`${what}: ${status}`, async () => {
      const world = apiWorld();
      await register(world);
      const response = await world.request('PUT', path, { body: manifest('127.0.0.3'), headers });
      assert.equal(response.status, status);
      assert.equal(response.headers.get('etag'), status === 200 ? '"2"' : null);
    });

  test('If-Match for a target that does not exist: 412', async () => {
    const world = apiWorld();
    for (const tag of ['*', '"1"'])
      assert.equal((await world.request('PUT', path, { body: manifest(), headers: { 'if-match': tag } })).status, 412);
    assert.equal(await world.everything(), 0);
  });

  test('If-None-Match for a target that does not exist: 201', async () => {
    const response = await apiWorld().request('PUT', path, { body: manifest(), headers: { 'if-none-match': '*' } });
    assert.equal(response.status, 201);
  });
});

describe('others write at the same time', () => {
  test('of several first PUTs one registers and the others replace', async () => {
    const world = apiWorld();
    const hosts = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'];
    const statuses = await Promise.all(
      hosts.map(async (host) => (await world.request('PUT', path, { body: manifest(host) })).status),
    );
    assert.deepEqual(statuses.sort(), [200, 200, 200, 201]);
    const response = await world.request('GET', path);
    assert.equal(response.headers.get('etag'), '"4"');
  });

  test('of several first PUTs that must be new one succeeds', async () => {
    const world = apiWorld();
    const put = () => world.request('PUT', path, { body: manifest(), headers: { 'if-none-match': '*' } });
    const statuses = (await Promise.all([put(), put(), put()])).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [201, 412, 412]);
  });

  test('manual triggers at the same time are all counted', async () => {
    const world = apiWorld();
    await register(world);
    await Promise.all(Array.from({ length: 4 }, () => world.request('POST', `${path}/probe`)));
    const [target] = (await world.items('checkout')).filter(({ kind }) => kind === 'TARGET');
    assert.deepEqual(target?.probeRequests, { 'main#readiness': 4 });
  });

  test('a write in doubt that was applied is not done twice', async () => {
    let lost = 0;
    const world = apiWorld({
      wrapStore: (store) => ({
        ...store,
        write: async (operations, options) => {
          const outcome = await store.write(operations, options);
          if (operations.length === 1 || lost > 0) return outcome;
          lost += 1;
          return { kind: 'inDoubt' };
        },
      }),
    });
    const response = await world.request('PUT', path, { body: manifest() });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('etag'), '"1"');
    assert.equal(lost, 1);
  });
});
