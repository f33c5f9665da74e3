import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiWorld, manifest, targetPath } from './world.ts';

const path = '/v1/namespaces/default/desired';

async function withTargets() {
  const world = apiWorld();
  for (const name of ['a', 'b', 'c']) await world.request('PUT', targetPath(name), { body: manifest() });
  await world.request('PUT', targetPath('a', 'other'), { body: manifest() });
  return world;
}

type World = Awaited<ReturnType<typeof withTargets>>;

const isTerminating = async (world: World, name: string, namespace = 'default') => {
  const shown = (await (await world.request('GET', targetPath(name, namespace))).json()) as {
    metadata: { deletionTimestamp?: string };
  };
  return shown.metadata.deletionTimestamp !== undefined;
};

async function put(world: World, names: readonly string[], query = '') {
  const response = await world.request('PUT', `${path}${query}`, { body: { names } });
  assert.equal(response.status, 200);
  const { kept, removed, terminating } = (await response.json()) as Record<string, string[]>;
  return { kept: kept?.sort(), removed: removed?.sort(), terminating: terminating?.sort() };
}

describe('PUT …/desired', () => {
  test('begins the termination of everything of the namespace that is not named', async () => {
    const world = await withTargets();
    assert.deepEqual(await put(world, ['b', 'unknown']), { kept: ['b'], removed: ['a', 'c'], terminating: [] });
    assert.equal(await isTerminating(world, 'a'), true);
    assert.equal(await isTerminating(world, 'b'), false);
    assert.equal(await isTerminating(world, 'a', 'other'), false);
  });

  test('again changes nothing', async () => {
    const world = await withTargets();
    await put(world, ['b']);
    const before = await world.items('a');
    assert.deepEqual(await put(world, ['b']), { kept: ['b'], removed: [], terminating: ['a', 'c'] });
    assert.deepEqual(await world.items('a'), before);
  });

  test('with dryRun says what would be removed and removes nothing', async () => {
    const world = await withTargets();
    assert.deepEqual(await put(world, [], '?dryRun=true'), { kept: [], removed: ['a', 'b', 'c'], terminating: [] });
    for (const name of ['a', 'b', 'c']) assert.equal(await isTerminating(world, name), false);
  });

  test('that takes too long says how far it came, and goes on when it is sent again', async () => {
    const world = await withTargets();
    let elapsedMs = 0;
    const slow = { ...world.clock, monotonicMs: () => (elapsedMs += 9_000) };
    const within = apiWorld({ clock: slow, store: world.store });
    const response = await within.request('PUT', path, { body: { names: [] } });
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('retry-after'), '1');
    assert.match(((await response.json()) as { detail: string }).detail, /^[12] targets were removed/);
    const { removed, terminating } = await put(world, []);
    assert.equal((removed?.length ?? 0) + (terminating?.length ?? 0), 3);
    assert.ok(terminating?.length);
  });

  test('with a body that is not valid is refused and removes nothing', async () => {
    const world = await withTargets();
    for (const body of [{}, { names: 'a' }, { names: [1] }, { names: [], extra: true }, []])
      assert.equal((await world.request('PUT', path, { body })).status, 422, JSON.stringify(body));
    assert.equal(await isTerminating(world, 'a'), false);
  });
});
