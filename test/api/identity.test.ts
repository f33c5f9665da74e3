/** metadata.uid and metadata.resourceVersion of a body: which target, in which state, the client means. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Store } from '../../shared/store/store.ts';
import { apiWorld, manifest, targetPath, type World } from './world.ts';

const path = targetPath('checkout');
const target = { apiVersion: 'probelet.dev/v1', kind: 'Target' };
const pod = { apiVersion: 'v1', kind: 'Pod' };

type Metadata = { readonly uid: string; readonly resourceVersion: string };
type Refusal = {
  readonly type: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
};

async function registered(): Promise<{ readonly world: World; readonly metadata: Metadata }> {
  const world = apiWorld();
  await world.request('PUT', path, { body: manifest('127.0.0.2') });
  const response = await world.request('PUT', path, { body: manifest() });
  return { world, metadata: ((await response.json()) as { readonly metadata: Metadata }).metadata };
}

async function refusalOf(response: Response, status: number): Promise<Refusal> {
  assert.equal(response.status, status);
  return (await response.json()) as Refusal;
}

/** Bodies that change the target, for each method that takes one. */
const changes = [
  ['PUT', { ...target, ...manifest('127.0.0.3') }],
  ['PUT', manifest('127.0.0.3')],
  ['PATCH', { spec: { host: '127.0.0.3' } }],
  ['PATCH', { ...target, spec: { host: '127.0.0.3' } }],
] as const;

describe('a body that names the stored uid and resourceVersion', () => {
  for (const [method, change] of changes)
    test(`of a ${method} ${'kind' in change ? 'with' : 'without'} kind is done, without a warning`, async () => {
      const { world, metadata } = await registered();
      const { uid, resourceVersion } = metadata;
      const response = await world.request(method, path, { body: { ...change, metadata: { uid, resourceVersion } } });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('warning'), null);
      assert.partialDeepStrictEqual(await response.json(), { metadata: { uid, resourceVersion: '3' } });
    });

  test('may be what GET has answered', async () => {
    const { world } = await registered();
    const { status: _, ...shown } = (await (await world.request('GET', path)).json()) as Record<string, unknown>;
    const response = await world.request('PUT', path, { body: shown });
    assert.equal(response.status, 200);
    assert.equal(
      response.headers.get('warning'),
      '299 - "not stored, does not concern probing: metadata.generation, metadata.creationTimestamp"',
    );
  });
});

describe('a body that names another uid or resourceVersion', () => {
  for (const [method, change] of changes)
    for (const dryRun of ['', '?dryRun=true'])
      test(`of a ${method}${dryRun} ${'kind' in change ? 'with' : 'without'} kind is 409 and changes nothing`, async () => {
        const { world, metadata } = await registered();
        const before = await world.items('checkout');
        const sent = { uid: 'another', resourceVersion: '1' };
        const response = await world.request(method, `${path}${dryRun}`, { body: { ...change, metadata: sent } });
        const { type, errors } = await refusalOf(response, 409);
        assert.equal(type, 'urn:probelet:problem:conflict');
        assert.deepEqual(errors, [
          { pointer: '/metadata/uid', detail: `is "another", but "${metadata.uid}" is stored` },
          { pointer: '/metadata/resourceVersion', detail: 'is "1", but "2" is stored' },
        ]);
        assert.deepEqual(await world.items('checkout'), before);
      });

  test('is 409 also where nothing else would change', async () => {
    const { world } = await registered();
    const body = { ...manifest(), metadata: { resourceVersion: '1' } };
    await refusalOf(await world.request('PUT', path, { body }), 409);
  });

  test('and that creates is 409, since nothing is stored', async () => {
    const world = apiWorld();
    for (const [field, value] of [
      ['uid', 'one'],
      ['resourceVersion', '1'],
    ] as const) {
      const body = { ...target, ...manifest(), metadata: { name: 'checkout', [field]: value } };
      const expected = [{ pointer: `/metadata/${field}`, detail: `is "${value}", but there is no such target` }];
      for (const [method, at] of [
        ['PUT', path],
        ['POST', '/v1/namespaces/default/targets'],
      ] as const)
        assert.deepEqual((await refusalOf(await world.request(method, at, { body }), 409)).errors, expected, method);
    }
    assert.equal(await world.everything(), 0);
  });

  test('and patches what does not exist is 404', async () => {
    await refusalOf(await apiWorld().request('PATCH', path, { body: { metadata: { uid: 'x' } } }), 404);
  });
});

describe('a uid and resourceVersion', () => {
  test('of a Pod are those of a cluster: ignored, and named in the warning', async () => {
    const world = apiWorld();
    const body = { ...pod, ...manifest(), metadata: { uid: 'of-a-cluster', resourceVersion: '77' } };
    for (const [method, status] of [
      ['PUT', 201],
      ['PUT', 200],
      ['PATCH', 200],
    ] as const) {
      const patch = { ...body, spec: { host: '127.0.0.9' } };
      const response = await world.request(method, path, { body: method === 'PATCH' ? patch : body });
      assert.equal(response.status, status);
      assert.match(response.headers.get('warning') ?? '', /metadata\.uid, metadata\.resourceVersion/);
    }
    const created = { ...body, metadata: { ...body.metadata, name: 'other' } };
    assert.equal((await world.request('POST', '/v1/namespaces/default/targets', { body: created })).status, 201);
  });

  test('that are empty or null are absent', async () => {
    const { world } = await registered();
    for (const absent of ['', null]) {
      const body = { ...manifest(), metadata: { uid: absent, resourceVersion: absent } };
      assert.equal((await world.request('PUT', path, { body })).status, 200);
    }
  });

  test('that are no strings are 422', async () => {
    const { world } = await registered();
    for (const [method] of changes) {
      const body = { ...manifest(), metadata: { uid: {}, resourceVersion: 2 } };
      assert.deepEqual((await refusalOf(await world.request(method, path, { body }), 422)).errors, [
        { pointer: '/metadata/uid', detail: 'must be a string' },
        { pointer: '/metadata/resourceVersion', detail: 'must be a string' },
      ]);
    }
  });
});

describe('a write whose answer of the store was lost', () => {
  const conditions = {
    'with If-Match': { headers: { 'if-match': '"1"' }, metadata: {} },
    'with its resourceVersion': { headers: {}, metadata: { resourceVersion: '1' } },
  };
  for (const [what, { headers, metadata }] of Object.entries(conditions))
    test(`is done, and not refused for what it changed itself, ${what}`, async () => {
      const lost = { next: false };
      const wrapStore = (store: Store): Store => ({
        ...store,
        write: async (operations, options) => {
          const outcome = await store.write(operations, options);
          const isTarget = operations.some((each) => each.kind === 'update' && each.key.sk.endsWith('#TARGET'));
          if (!lost.next || !isTarget) return outcome;
          lost.next = false;
          return { kind: 'inDoubt' };
        },
      });
      for (const [method, change] of changes) {
        const world = apiWorld({ wrapStore });
        await world.request('PUT', path, { body: manifest() });
        lost.next = true;
        const response = await world.request(method, path, { headers, body: { ...change, metadata } });
        assert.equal(response.status, 200, method);
        assert.equal(response.headers.get('etag'), '"2"');
        assert.equal(lost.next, false);
      }
      const world = apiWorld({ wrapStore });
      await world.request('PUT', path, { body: manifest() });
      lost.next = true;
      assert.equal((await world.request('DELETE', path, { headers })).status, 202);
    });
});
