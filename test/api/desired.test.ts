import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testsIn } from '../support/tests-in.ts';
import { apiWorld, manifest, targetPath, type World, yaml } from './world.ts';

const path = '/v1/namespaces/default/desired';

const inWorld = testsIn(async () => {
  const world = apiWorld();
  for (const name of ['a', 'b', 'c']) await world.ask('PUT', targetPath(name), manifest());
  await world.ask('PUT', targetPath('a', 'other'), manifest());
  return world;
});

const isTerminating = async (world: World, name: string, namespace = 'default') =>
  (await world.ask('GET', targetPath(name, namespace))).body.metadata.deletionTimestamp !== undefined;

type Done = { kept: string[]; removed: string[]; terminating: string[]; continue?: string };

async function put(world: World, names: readonly string[], query = '') {
  const { kept, removed, terminating } = (await world.expect<Done>(200, 'PUT', `${path}${query}`, { names })).body;
  return { kept: kept.sort(), removed: removed.sort(), terminating: terminating.sort() };
}

describe('PUT …/desired', () => {
  inWorld('begins the termination of everything of the namespace that is not named', async (world) => {
    assert.deepEqual(await put(world, ['b', 'unknown']), { kept: ['b'], removed: ['a', 'c'], terminating: [] });
    assert.equal(await isTerminating(world, 'a'), true);
    assert.equal(await isTerminating(world, 'b'), false);
    assert.equal(await isTerminating(world, 'a', 'other'), false);
  });

  inWorld('again changes nothing', async (world) => {
    await put(world, ['b']);
    const before = await world.items('a');
    assert.deepEqual(await put(world, ['b']), { kept: ['b'], removed: [], terminating: ['a', 'c'] });
    assert.deepEqual(await world.items('a'), before);
  });

  inWorld('with dryRun says what would be removed and removes nothing', async (world) => {
    assert.deepEqual(await put(world, [], '?dryRun=true'), { kept: [], removed: ['a', 'b', 'c'], terminating: [] });
    for (const name of ['a', 'b', 'c']) assert.equal(await isTerminating(world, name), false);
  });

  inWorld('that takes too long continues where it stopped', async (world) => {
    let elapsedMs = 0;
    const slow = { ...world.clock, monotonicMs: () => (elapsedMs += 9_000) };
    const within = apiWorld({ clock: slow, store: world.store });
    const asked = (status: number, query: string, names: readonly string[] = []) =>
      within.expect<Done>(status, 'PUT', `${path}${query}`, { names });
    const first = await asked(202, '');
    const token = first.body.continue ?? '';
    await asked(400, `?continue=${token}`, ['another set of names']);
    await asked(400, `?dryRun=true&continue=${token}`);
    await asked(400, '?continue=bm9uZQ');
    const second = await asked(200, `?continue=${token}`);
    assert.equal(second.body.continue, undefined);
    assert.deepEqual([...first.body.removed, ...second.body.removed].sort(), ['a', 'b', 'c']);
  });

  test('takes 1 MiB of JSON, and of YAML what other routes take', async () => {
    const { expect } = apiWorld();
    const frame = JSON.stringify({ names: [''] }).length;
    const bodyOf = (bytes: number) => JSON.stringify({ names: ['x'.repeat(bytes - frame)] });
    for (const [bytesMax, headers] of [[1024 * 1024] as const, [64 * 1024, yaml] as const]) {
      await expect(200, 'PUT', path, bodyOf(bytesMax), headers);
      await expect(413, 'PUT', path, bodyOf(bytesMax + 1), headers);
    }
  });

  inWorld('with a body that is not valid is refused and removes nothing', async (world) => {
    for (const body of [{}, { names: 'a' }, { names: [1] }, { names: [], extra: true }, []])
      await world.expect(422, 'PUT', path, body);
    assert.equal(await isTerminating(world, 'a'), false);
  });
});
