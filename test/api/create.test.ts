import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Store } from '../../shared/store/store.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { apiWorld, manifest, targetPath, type World } from './world.ts';

const targetsPath = '/v1/namespaces/default/targets';
const named = (name: string) => ({ ...manifest(), metadata: { name } });
const generated = (generateName: unknown) => ({ ...manifest(), metadata: { generateName } });

type Shown = { readonly metadata: { readonly name: string; readonly uid: string } };
type Refusal = {
  readonly type: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
};

const create = (world: World, body: unknown, query = '') => world.request('POST', `${targetsPath}${query}`, { body });

async function createdName(world: World, body: unknown): Promise<string> {
  const response = await create(world, body);
  assert.equal(response.status, 201);
  return ((await response.json()) as Shown).metadata.name;
}

async function errorsOf(response: Response, status: number) {
  assert.equal(response.status, status);
  return ((await response.json()) as Refusal).errors;
}

describe('POST of a namespace’s targets', () => {
  test('creates the target that metadata names, and says where it is', async () => {
    const world = apiWorld();
    const response = await create(world, named('checkout'));
    assert.equal(response.status, 201);
    assert.equal(response.headers.get('location'), targetPath('checkout'));
    assert.equal(response.headers.get('etag'), '"1"');
    assert.equal(response.headers.get('warning'), null);
    const shown = await (await world.request('GET', targetPath('checkout'))).json();
    assert.deepEqual(await response.json(), shown);
  });

  test('of a name that exists is 409, and the target stays as it is', async () => {
    const world = apiWorld();
    await create(world, named('checkout'));
    const before = await world.items('checkout');
    const response = await create(world, { ...named('checkout'), spec: manifest('127.0.0.2').spec });
    assert.equal(response.status, 409);
    assert.equal(((await response.json()) as Refusal).type, 'urn:probelet:problem:already-exists');
    assert.deepEqual(await world.items('checkout'), before);
    await world.request('DELETE', targetPath('checkout'));
    assert.equal((await create(world, named('checkout'))).status, 409);
  });

  test('with dryRun answers what would be, and stores nothing', async () => {
    const world = apiWorld();
    const response = await create(world, named('checkout'), '?dryRun=true');
    assert.equal(response.status, 201);
    assert.equal(response.headers.get('location'), targetPath('checkout'));
    assert.equal(await world.everything(), 0);
  });

  test('whose answer of the store was lost is still 201', async () => {
    let lost = 0;
    const wrapStore = (store: Store): Store => ({
      ...store,
      write: async (operations, options) => {
        const outcome = await store.write(operations, options);
        if (operations.length === 1 || lost > 0) return outcome;
        lost += 1;
        return { kind: 'inDoubt' };
      },
    });
    const response = await create(apiWorld({ wrapStore }), named('checkout'));
    assert.equal(lost, 1);
    assert.equal(response.status, 201);
  });

  test('takes a Pod in YAML, whose namespace has to be that of the path', async () => {
    const world = apiWorld();
    const body = (namespace: string) =>
      `{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: ${namespace}, generateName: web-},
        status: {podIP: 127.0.0.1}, spec: {nodeName: n, containers: [{name: web}]}}`;
    const headers = { 'content-type': 'application/yaml' };
    const refused = await world.request('POST', targetsPath, { headers, body: body('other') });
    assert.deepEqual(await errorsOf(refused, 422), [
      { pointer: '/metadata/namespace', detail: 'must be "default", as in the path' },
    ]);
    const response = await world.request('POST', targetsPath, { headers, body: body('default') });
    assert.equal(response.headers.get('location'), targetPath('web'));
    assert.match(response.headers.get('warning') ?? '', /metadata\.generateName, spec\.nodeName/);
  });

  test('without a name is 422, beside whatever else is wrong', async () => {
    const world = apiWorld();
    const missing = { pointer: '/metadata/name', detail: 'is required, or metadata.generateName instead' };
    for (const metadata of [undefined, {}, { name: '' }, { name: null, generateName: '' }, { generateName: null }])
      assert.deepEqual(await errorsOf(await create(world, { ...manifest(), metadata }), 422), [missing]);
    const wrong = { spec: { ...manifest().spec, host: undefined } };
    const errors = await errorsOf(await create(world, wrong), 422);
    assert.deepEqual(
      errors?.map(({ pointer }) => pointer),
      ['/metadata/name', '/spec/host'],
    );
    assert.equal(await world.everything(), 0);
  });

  test('with a name that is none is 422', async () => {
    const world = apiWorld();
    const names = [
      ['Checkout', 'must be a DNS subdomain of at most 253 characters'],
      [5, 'must be a string'],
    ] as const;
    for (const [name, detail] of names) {
      const errors = await errorsOf(await create(world, { ...manifest(), metadata: { name } }), 422);
      assert.deepEqual(errors, [{ pointer: '/metadata/name', detail }]);
    }
    for (const body of [[], 'x', null, 7, { metadata: [] }, { metadata: 'x' }])
      assert.equal((await create(world, body === 'x' ? '"x"' : body)).status, 422, JSON.stringify(body));
    assert.equal(await world.everything(), 0);
  });
});

describe('metadata.generateName', () => {
  test('gets five characters of Kubernetes’ alphabet', async () => {
    const world = apiWorld();
    const response = await create(world, generated('web-'));
    assert.equal(response.status, 201);
    const { metadata } = (await response.json()) as Shown;
    assert.match(metadata.name, /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.equal(response.headers.get('location'), targetPath(metadata.name));
    assert.equal(response.headers.get('warning'), null);
    assert.equal((await world.request('GET', targetPath(metadata.name))).status, 200);
  });

  test('uses every character of the alphabet', async () => {
    const world = apiWorld({ random: seededRandom(1) });
    const suffixes: string[] = [];
    for (let count = 0; count < 100; count += 1) suffixes.push((await createdName(world, generated('a'))).slice(1));
    assert.equal(new Set(suffixes.join('')).size, 'bcdfghjklmnpqrstvwxz2456789'.length);
    assert.equal(new Set(suffixes).size, 100);
  });

  test('is cut so that the name has 63 characters, as in Kubernetes', async () => {
    const name = await createdName(apiWorld(), generated('x'.repeat(200)));
    assert.equal(name.length, 63);
    assert.ok(name.startsWith('x'.repeat(58)));
  });

  test('is not used beside a name', async () => {
    const body = { ...manifest(), metadata: { name: 'checkout', generateName: 'web-' } };
    const response = await create(apiWorld(), body);
    assert.equal(((await response.json()) as Shown).metadata.name, 'checkout');
    assert.equal(
      response.headers.get('warning'),
      '299 - "not stored, does not concern probing: metadata.generateName"',
    );
  });

  test('tries another suffix when a name is taken, a bounded number of times', async () => {
    const { uuid } = seededRandom(1);
    const drawn = (values: readonly number[]) => {
      let at = 0;
      return { uuid, next: () => values[Math.min(at++, values.length - 1)] ?? 0 };
    };
    const world = apiWorld({ random: drawn([0]) });
    assert.equal(await createdName(world, generated('a-')), 'a-bbbbb');
    const response = await create(world, generated('a-'));
    assert.equal(response.status, 409);
    assert.equal(((await response.json()) as Refusal).type, 'urn:probelet:problem:already-exists');

    const later = apiWorld({ store: world.store, random: drawn([...Array.from({ length: 15 }, () => 0), 0.999]) });
    assert.equal(await createdName(later, generated('a-')), 'a-99999');
  });

  test('that can begin no name is 422 by its own place', async () => {
    const world = apiWorld();
    const detail = 'must begin a DNS subdomain of at most 253 characters';
    for (const [generateName, expected] of [
      ['-web', detail],
      ['Web-', detail],
      ['a_b', detail],
      [7, 'must be a string'],
      [['a'], 'must be a string'],
    ] as const) {
      const errors = await errorsOf(await create(world, generated(generateName)), 422);
      assert.deepEqual(errors, [{ pointer: '/metadata/generateName', detail: expected }]);
    }
    assert.equal(await world.everything(), 0);
  });
});

describe('GET of a namespace’s targets', () => {
  test('lists the targets of the namespace, with the parameters of the whole list', async () => {
    const world = apiWorld();
    for (const [name, namespace] of [
      ['a', 'default'],
      ['b', 'default'],
      ['a', 'other'],
    ] as const)
      await world.request('PUT', targetPath(name, namespace), {
        body: { ...manifest(), metadata: { labels: { name } } },
      });
    const listed = async (query = '') => {
      const response = await world.request('GET', `${targetsPath}${query}`);
      assert.equal(response.status, 200);
      const { items, metadata } = (await response.json()) as {
        readonly items: readonly Shown[];
        readonly metadata: { readonly continue?: string };
      };
      return { names: items.map((each) => each.metadata.name).sort(), more: metadata.continue };
    };
    assert.deepEqual(await listed(), { names: ['a', 'b'], more: undefined });
    assert.deepEqual((await listed('?labelSelector=name=b')).names, ['b']);
    const { names, more } = await listed('?limit=1');
    assert.deepEqual([...names, ...(await listed(`?continue=${more}`)).names].sort(), ['a', 'b']);
  });

  test('of a namespace without targets is empty, and takes no other namespace', async () => {
    const world = apiWorld();
    const response = await world.request('GET', targetsPath);
    assert.partialDeepStrictEqual(await response.json(), { kind: 'TargetList', items: [] });
    assert.equal((await world.request('GET', `${targetsPath}?namespace=other`)).status, 400);
  });
});
