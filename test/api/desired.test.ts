import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TargetRecord } from '../../shared/core/records.ts';
import { initialStatus } from '../../shared/core/target-status.ts';
import { changeCounted, encodeStatus, encodeTarget } from '../../shared/store/items.ts';
import { targetAddress } from '../../shared/store/keys.ts';
import { sqliteStore } from '../../shared/store/sqlite.ts';
import { type Operation, operationsMax, type Store } from '../../shared/store/store.ts';
import { immediateClock } from '../support/immediate-clock.ts';
import { apiWorld, manifest, startMs, targetPath } from './world.ts';

const path = '/v1/namespaces/default/desired';

async function withTargets() {
  const world = apiWorld();
  for (const name of ['a', 'b', 'c']) await world.request('PUT', targetPath(name), { body: manifest() });
  await world.request('PUT', targetPath('a', 'other'), { body: manifest() });
  return world;
}

/** Of one call of the store, about as DynamoDB takes for a page of a megabyte, or for one write. */
const [queryMs, writeMs] = [250, 10];

/** So many targets on a store that takes its time, by a clock that only its calls move. */
function crowded(count: number) {
  let elapsedMs = 0;
  const slow = (store: Store): Store => ({
    ...store,
    query(query) {
      elapsedMs += queryMs;
      return store.query(query);
    },
    write(operations, options) {
      elapsedMs += writeMs;
      return store.write(operations, options);
    },
  });
  const store = sqliteStore({ path: ':memory:' });
  const names = Array.from({ length: count }, (_, index) => `target-${String(index).padStart(6, '0')}`);
  const filled = fill(store, names);
  const clock = { ...immediateClock(), monotonicMs: () => elapsedMs };
  return { names, app: apiWorld({ clock, store: slow(store) }), filled };
}

/** As if they had been registered, each without probes. */
async function fill(store: Store, names: readonly string[]): Promise<void> {
  const operations = names.flatMap(registered);
  for (let at = 0; at < operations.length; at += operationsMax)
    await store.write(operations.slice(at, at + operationsMax), { token: `fill ${at}` });
  const counters = new Map(
    names.map((name) => targetAddress('default', name)).map((address) => [address.bucket, address]),
  );
  for (const [bucket, address] of counters) await store.write([changeCounted(address)], { token: `count ${bucket}` });
}

function registered(name: string): readonly Operation[] {
  const target = someTarget(name);
  const address = targetAddress('default', name);
  return [
    { kind: 'put', item: encodeTarget(address, target) },
    { kind: 'put', item: encodeStatus(address, initialStatus(target, startMs)) },
  ];
}

const someTarget = (name: string): TargetRecord => ({
  uid: name,
  namespace: 'default',
  name,
  labels: {},
  annotations: {},
  generation: 1,
  resourceVersion: 1,
  creationTimestampMs: startMs,
  probeRequests: {},
  spec: {
    host: '127.0.0.1',
    restartPolicy: 'Always',
    lifecycle: 'static',
    terminationGracePeriodSeconds: 30,
    readinessGates: [],
    initContainers: [],
    containers: [{ name: 'main' }],
  },
});

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

  test('that takes too long goes on where it stopped', async () => {
    const world = await withTargets();
    let elapsedMs = 0;
    const slow = { ...world.clock, monotonicMs: () => (elapsedMs += 9_000) };
    const within = apiWorld({ clock: slow, store: world.store });
    const request = async (query: string, names: readonly string[] = []) => {
      const response = await within.request('PUT', `${path}${query}`, { body: { names } });
      return { status: response.status, body: (await response.json()) as { removed: string[]; continue?: string } };
    };
    const first = await request('');
    assert.equal(first.status, 202);
    const token = first.body.continue ?? '';
    assert.equal((await request(`?continue=${token}`, ['a'])).status, 400, 'another set of names');
    assert.equal((await request(`?dryRun=true&continue=${token}`)).status, 400, 'another request');
    assert.equal((await request('?continue=bm9uZQ')).status, 400, 'no token');
    const second = await request(`?continue=${token}`);
    assert.deepEqual([second.status, second.body.continue], [200, undefined]);
    assert.deepEqual([...first.body.removed, ...second.body.removed].sort(), ['a', 'b', 'c']);
  });

  test('with 50,000 targets, of which one request manages a few thousand, comes to its end', async () => {
    const world = crowded(50_000);
    await world.filled;
    const undesired = new Set(world.names.filter((_, index) => index % 100 === 0));
    const body = { names: world.names.filter((name) => !undesired.has(name)) };
    assert.ok(JSON.stringify(body).length > 600_000);
    const [kept, removed]: [string[], string[]] = [[], []];
    let requests = 0;
    for (let query = ''; requests === 0 || query !== ''; requests += 1) {
      const response = await world.app.request('PUT', `${path}${query}`, { body });
      assert.ok(response.status === 200 || response.status === 202, `${response.status}`);
      const done = (await response.json()) as { kept: string[]; removed: string[]; continue?: string };
      assert.equal(response.status === 202, done.continue !== undefined);
      kept.push(...done.kept);
      removed.push(...done.removed);
      query = done.continue === undefined ? '' : `?continue=${done.continue}`;
      assert.ok(requests < 50, 'it does not come to its end');
    }
    assert.ok(requests > 3, `${requests} requests`);
    assert.deepEqual(removed.sort(), [...undesired].sort());
    assert.deepEqual(kept.sort(), body.names.sort());
  });

  test('takes 1 MiB of JSON, and of YAML what other routes take', async () => {
    const { request } = apiWorld();
    const status = async (characters: number, type: string) => {
      const body = JSON.stringify({ names: ['x'.repeat(characters)] });
      return (await request('PUT', path, { body, headers: { 'content-type': type } })).status;
    };
    const frame = JSON.stringify({ names: [''] }).length;
    const mebibyte = 1024 * 1024 - frame;
    assert.deepEqual(
      [await status(mebibyte, 'application/json'), await status(mebibyte + 1, 'application/json')],
      [200, 413],
    );
    const least = 64 * 1024 - frame;
    assert.deepEqual(
      [await status(least, 'application/yaml'), await status(least + 1, 'application/yaml')],
      [200, 413],
    );
  });

  test('with a body that is not valid is refused and removes nothing', async () => {
    const world = await withTargets();
    for (const body of [{}, { names: 'a' }, { names: [1] }, { names: [], extra: true }, []])
      assert.equal((await world.request('PUT', path, { body })).status, 422, JSON.stringify(body));
    assert.equal(await isTerminating(world, 'a'), false);
  });
});
