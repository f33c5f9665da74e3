import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '../support/seeded-random.ts';
import { apiWorld, inWorld, losingStore, manifest, targetPath, targetsPath, type World, yaml } from './world.ts';

const named = (name: string) => ({ ...manifest(), metadata: { name } });
const generated = (generateName: unknown) => ({ ...manifest(), metadata: { generateName } });

const alreadyExists = 'urn:probelet:problem:already-exists';

const create = (world: World, body: unknown) => world.expect(201, 'POST', targetsPath, body);
const refuse = (world: World, body: unknown, status = 422) => world.expect(status, 'POST', targetsPath, body);
const createdName = async (world: World, body: unknown) => (await create(world, body)).body.metadata.name;

describe('POST of a namespace’s targets', () => {
  inWorld('creates the target that metadata names, and says where it is', async (world) => {
    const { headers, etag, warning, body } = await create(world, named('checkout'));
    assert.deepEqual([headers.get('location'), etag, warning], [targetPath('checkout'), '"1"', null]);
    assert.deepEqual(body, (await world.ask('GET', targetPath('checkout'))).body);
  });

  inWorld('of a name that exists is 409, and the target stays as it is', async (world) => {
    await create(world, named('checkout'));
    const before = await world.items('checkout');
    const { body } = await refuse(world, { ...named('checkout'), spec: manifest('127.0.0.2').spec }, 409);
    assert.equal(body.type, alreadyExists);
    assert.deepEqual(await world.items('checkout'), before);
    await world.ask('DELETE', targetPath('checkout'));
    await refuse(world, named('checkout'), 409);
  });

  inWorld('with dryRun answers what would be, and stores nothing', async (world) => {
    const { headers } = await world.expect(201, 'POST', `${targetsPath}?dryRun=true`, named('checkout'));
    assert.equal(headers.get('location'), targetPath('checkout'));
    assert.equal(await world.everything(), 0);
  });

  test('whose answer of the store was lost is still 201', async () => {
    const { lost, wrapStore } = losingStore();
    await create(apiWorld({ wrapStore }), named('checkout'));
    assert.equal(lost.next, false);
  });

  inWorld('takes a Pod in YAML, whose namespace has to be that of the path', async (world) => {
    const body = (namespace: string) =>
      `{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: ${namespace}, generateName: web-},
        status: {podIP: 127.0.0.1}, spec: {nodeName: n, containers: [{name: web}]}}`;
    const refused = await world.expect(422, 'POST', targetsPath, body('other'), yaml);
    const detail = 'must be "default", as in the path';
    assert.deepEqual(refused.body.errors, [{ pointer: '/metadata/namespace', detail }]);
    const created = await world.ask('POST', targetsPath, body('default'), yaml);
    assert.equal(created.headers.get('location'), targetPath('web'));
    assert.match(created.warning ?? '', /metadata\.generateName, spec\.nodeName/);
  });

  inWorld('without a name is 422, beside whatever else is wrong', async (world) => {
    const missing = { pointer: '/metadata/name', detail: 'is required, or metadata.generateName instead' };
    for (const metadata of [undefined, {}, { name: '' }, { name: null, generateName: '' }, { generateName: null }])
      assert.deepEqual((await refuse(world, { ...manifest(), metadata })).body.errors, [missing]);
    const { places } = await refuse(world, { spec: { ...manifest().spec, host: undefined } });
    assert.deepEqual(places, ['/metadata/name', '/spec/host']);
    assert.equal(await world.everything(), 0);
  });

  inWorld('with a name that is none is 422', async (world) => {
    const names = new Map<unknown, string>([
      ['Checkout', 'must be a DNS subdomain of at most 253 characters'],
      [5, 'must be a string'],
    ]);
    for (const [name, detail] of names) {
      const { body } = await refuse(world, { ...manifest(), metadata: { name } });
      assert.deepEqual(body.errors, [{ pointer: '/metadata/name', detail }]);
    }
    for (const body of [[], '"x"', null, 7, { metadata: [] }, { metadata: 'x' }]) await refuse(world, body);
    assert.equal(await world.everything(), 0);
  });
});

describe('metadata.generateName', () => {
  inWorld('gets five characters of Kubernetes’ alphabet', async (world) => {
    const { headers, warning, body } = await create(world, generated('web-'));
    const { name } = body.metadata;
    assert.match(name, /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.deepEqual([headers.get('location'), warning], [targetPath(name), null]);
    await world.expect(200, 'GET', targetPath(name));
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
    const metadata = { name: 'checkout', generateName: 'web-' };
    const { body, warning } = await create(apiWorld(), { ...manifest(), metadata });
    assert.equal(body.metadata.name, 'checkout');
    assert.equal(warning, '299 - "not stored, does not concern probing: metadata.generateName"');
  });

  test('tries another suffix when a name is taken, a bounded number of times', async () => {
    const { uuid } = seededRandom(1);
    const drawn = (values: readonly number[]) => {
      let at = 0;
      return { uuid, next: () => values[Math.min(at++, values.length - 1)] ?? 0 };
    };
    const world = apiWorld({ random: drawn([0]) });
    assert.equal(await createdName(world, generated('a-')), 'a-bbbbb');
    assert.equal((await refuse(world, generated('a-'), 409)).body.type, alreadyExists);

    const later = apiWorld({ store: world.store, random: drawn([...Array.from({ length: 15 }, () => 0), 0.999]) });
    assert.equal(await createdName(later, generated('a-')), 'a-99999');
  });

  inWorld('that can begin no name is 422 by its own place', async (world) => {
    const detail = 'must begin a DNS subdomain of at most 253 characters';
    for (const generateName of ['-web', 'Web-', 'a_b', 7, ['a']]) {
      const { errors } = (await refuse(world, generated(generateName))).body;
      const expected = typeof generateName === 'string' ? detail : 'must be a string';
      assert.deepEqual(errors, [{ pointer: '/metadata/generateName', detail: expected }]);
    }
    assert.equal(await world.everything(), 0);
  });
});

describe('GET of a namespace’s targets', () => {
  inWorld('lists the targets of the namespace, with the parameters of the whole list', async (world) => {
    for (const at of [targetPath('a'), targetPath('b'), targetPath('a', 'other')])
      await world.ask('PUT', at, { ...manifest(), metadata: { labels: { name: at.slice(-1) } } });
    const listed = async (query = '') => {
      const { items, metadata } = (await world.expect(200, 'GET', `${targetsPath}${query}`)).body;
      return { names: items.map((each) => each.metadata.name).sort(), more: metadata.continue };
    };
    assert.deepEqual(await listed(), { names: ['a', 'b'], more: undefined });
    assert.deepEqual((await listed('?labelSelector=name=b')).names, ['b']);
    const { names, more } = await listed('?limit=1');
    assert.deepEqual([...names, ...(await listed(`?continue=${more}`)).names].sort(), ['a', 'b']);
  });

  inWorld('of a namespace without targets is empty, and takes no other namespace', async (world) => {
    const { body } = await world.ask('GET', targetsPath);
    assert.partialDeepStrictEqual(body, { kind: 'TargetList', items: [] });
    await world.expect(400, 'GET', `${targetsPath}?namespace=other`);
  });
});
