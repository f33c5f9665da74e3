import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseFieldSelector } from '../../shared/api/lists/field-selector.ts';
import type { StoredTarget } from '../../shared/api/targets/stored-target.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import type { Store } from '../../shared/store/store.ts';
import { immediateClock } from '../support/immediate-clock.ts';
import { list, names, pages } from './lists.ts';
import { manyNames, writeTargets } from './many-targets.ts';
import { apiWorld, inWorld, manifest, startMs, targetPath, type World } from './world.ts';

const refusal = async (world: World, query: string) =>
  (await world.expect(400, 'GET', `/v1/targets?${query}`)).body.errors;

const put = (world: World, name: string, body: object = manifest(), namespace = 'default') =>
  world.expect(201, 'PUT', targetPath(name, namespace), body);

/** As in Kubernetes' tests of field selectors. */
const selectors: readonly (readonly [selector: string, matches: boolean])[] = [
  ['', true],
  [',', true],
  ['metadata.name=shop', true],
  ['metadata.name==shop', true],
  ['metadata.name!=shop', false],
  ['metadata.name!=cart', true],
  ['metadata.name=cart', false],
  ['metadata.name=', false],
  ['metadata.name=shop,metadata.namespace=default', true],
  ['metadata.name=shop,,metadata.namespace=other', false],
  ['spec.host=10.0.0.1,', true],
  ['spec.host!=10.0.0.1', false],
  ['spec.lifecycle=static', true],
  ['spec.lifecycle!=static', false],
  ['status.phase=Running', true],
  ['status.phase!=Running', false],
  ['metadata.name=shop\\,cart', false],
  ['metadata.name!=a\\=b\\\\', true],
  ['metadata.name= shop', false],
];

describe('field selectors', () => {
  const stored = {
    target: { name: 'shop', namespace: 'default', spec: { host: '10.0.0.1', lifecycle: 'static' } },
    status: { status: { phase: 'Running' } },
  } as unknown as StoredTarget;

  for (const [selector, matches] of selectors)
    test(`${selector || '(empty)'} ${matches ? 'matches' : 'does not match'}`, () => {
      const parsed = parseFieldSelector(selector);
      assert.equal(parsed.kind === 'selector' && parsed.matches(stored), matches);
    });

  for (const selector of [
    'metadata.name',
    '=x',
    'metadata.name=a=b',
    'metadata.name=a\\b',
    'metadata.name=a\\',
    'metadata.name===a',
    'metadata.labels=a',
    'spec.hosts=a',
    ' metadata.name=a',
    'metadata.name =a',
    'metadata.name!a',
    'metadata.name in (a)',
    'constructor=a',
    '__proto__=a',
  ])
    test(`${selector} is refused`, () => assert.equal(parseFieldSelector(selector).kind, 'invalid'));
});

describe('a list by fieldSelector', () => {
  inWorld('has the targets whose fields match', async (world) => {
    await put(world, 'a');
    await put(world, 'b', { spec: { host: '127.0.0.2', lifecycle: 'reported', containers: [{ name: 'app' }] } });
    await put(world, 'a', manifest(), 'other');
    const found = async (selector: string) =>
      names(await list(world, `?fieldSelector=${encodeURIComponent(selector)}`)).sort();
    const expected = {
      'metadata.name=a': ['a', 'a'],
      'metadata.name=a,metadata.namespace=other': ['a'],
      'metadata.namespace!=other': ['a', 'b'],
      'spec.host=127.0.0.2': ['b'],
      'spec.lifecycle=static': ['a', 'a'],
      'status.phase=Pending': ['b'],
      'status.phase!=Pending': ['a', 'a'],
    };
    for (const [selector, targets] of Object.entries(expected))
      assert.deepEqual(await found(selector), targets, selector);
  });

  test('of another field is refused with the fields that there are', async () => {
    const known = 'metadata.name, metadata.namespace, spec.host, spec.lifecycle, status.phase';
    const detail = `"spec.hosts" is no field to select by; those are ${known}`;
    const errors = await refusal(apiWorld(), 'fieldSelector=spec.hosts=a');
    assert.deepEqual(errors, [{ parameter: 'fieldSelector', detail }]);
  });
});

describe('a list by ready', () => {
  const readiness = async (world: World) =>
    Object.fromEntries(
      await Promise.all(
        ['true', 'false', 'unknown'].map(async (value) => [value, names(await list(world, `?ready=${value}`)).sort()]),
      ),
    );

  inWorld('goes by the condition as it is shown, freshness included', async (world) => {
    await put(world, 'new');
    await put(world, 'succeeds');
    await succeeded(world, 'succeeds');
    const waiting = { host: '127.0.0.1', lifecycle: 'reported', containers: [{ name: 'app' }] };
    await put(world, 'waits', { spec: waiting });
    assert.deepEqual(await readiness(world), { true: ['succeeds'], false: ['waits'], unknown: ['new'] });
    world.advance(60_000);
    assert.deepEqual(await readiness(world), { true: [], false: ['waits'], unknown: ['new', 'succeeds'] });
  });

  inWorld('has a target whose status cannot be read among the unknown', async (world) => {
    await put(world, 'a');
    const status = await world.itemOf('a', 'STATUS');
    assert.ok(status);
    await world.put({ pk: status.pk, sk: status.sk, kind: 'STATUS', schemaVersion: 1 });
    assert.deepEqual(await readiness(world), { true: [], false: [], unknown: ['a'] });
  });

  test('and by another value is refused', async () =>
    assert.deepEqual(await refusal(apiWorld(), 'ready=yes'), [
      { parameter: 'ready', detail: 'must be one of true, false, unknown' },
    ]));
});

/** What holder and status-sync write once the readiness probe has succeeded. */
async function succeeded(world: World, name: string): Promise<void> {
  const [probe, status] = [await world.itemOf(name, 'PROBE'), await world.itemOf(name, 'STATUS')];
  assert.ok(probe && status);
  const containerID = `probelet://${probe.uid}/main/0`;
  const { conditions, ...rest } = status.status as { readonly conditions: readonly { readonly type: string }[] };
  const ready = conditions.map((condition) => ({ ...condition, status: 'True' }));
  await world.set(probe, { version: 1, result: 'success', containerID });
  await world.set(status, { status: { ...rest, conditions: ready } });
}

/** Makes the result of a target's probe one that changed then. */
async function changedAt(world: World, name: string, afterMs: number): Promise<void> {
  const probe = await world.itemOf(name, 'PROBE');
  assert.ok(probe);
  await world.set(probe, { version: 1, sinceMs: startMs + afterMs, result: 'failure' });
}

describe('a sorted list', () => {
  inWorld('by name is sorted by name, then by namespace, page by page', async (world) => {
    for (const name of ['d', 'a', 'c', 'b', 'e', 'a10', 'a2']) await put(world, name);
    await put(world, 'c', manifest(), 'another');
    const expected = ['a', 'a10', 'a2', 'b', 'c', 'c', 'd', 'e'];
    for (const limit of [1, 2, 3, 7, 8, 9]) {
      const found = await pages(world, `?sortBy=name&limit=${limit}`);
      assert.deepEqual(found.flatMap(names), expected);
      assert.equal(found.length, Math.ceil(expected.length / limit));
      for (const { metadata } of found) assert.equal(metadata.order, 'name');
    }
    const { items } = await list(world, '?sortBy=name&limit=500');
    const namespaces = items.flatMap(({ metadata }) => (metadata.name === 'c' ? [metadata.namespace] : []));
    assert.deepEqual(namespaces, ['another', 'default']);
  });

  test('by lastChange begins with the result that changed last, and ends with those that have none', async () => {
    const world = apiWorld();
    for (const name of ['a', 'b', 'c', 'd']) await put(world, name);
    await changedAt(world, 'b', 1_000);
    await changedAt(world, 'd', 3_000);
    for (const limit of [1, 2, 500])
      assert.deepEqual((await pages(world, `?sortBy=lastChange&limit=${limit}`)).flatMap(names), ['d', 'b', 'a', 'c']);
  });

  inWorld('continues after its place whatever was added, removed or changed before it', async (world) => {
    for (const name of ['b', 'd', 'f', 'h']) await put(world, name);
    const first = await list(world, '?sortBy=name&limit=2');
    await put(world, 'a');
    await world.remove('d');
    await put(world, 'e');
    assert.deepEqual(names(await list(world, `?sortBy=name&continue=${first.metadata.continue}`)), ['e', 'f', 'h']);
  });

  inWorld('is filtered too', async (world) => {
    for (const name of ['c', 'a', 'b']) await put(world, name);
    assert.deepEqual(names(await list(world, '?sortBy=name&fieldSelector=metadata.name!=b')), ['a', 'c']);
  });

  inWorld('does not go on in another order, or without one', async (world) => {
    for (const name of ['a', 'b']) await put(world, name);
    const token = (await list(world, '?sortBy=name&limit=1')).metadata.continue;
    const detail = 'must be a token from an answer to the same request';
    for (const query of ['sortBy=lastChange&', ''])
      assert.deepEqual(await refusal(world, `${query}continue=${token}`), [{ parameter: 'continue', detail }]);
    assert.deepEqual(await refusal(world, 'sortBy=age'), [
      { parameter: 'sortBy', detail: 'must be one of name, lastChange' },
    ]);
  });

  inWorld('says nothing of an order where none was asked for', async (world) => {
    await put(world, 'a');
    assert.deepEqual((await list(world, '?limit=1')).metadata, {});
  });
});

const rareIf =
  (isRare: (name: string) => boolean) =>
  (name: string): Record<string, string> =>
    isRare(name) ? { rare: '' } : {};

describe('of many targets', () => {
  inWorld('10,000 are sorted; with more the list keeps the order of the table, and says so', async (world) => {
    await writeTargets(world, manyNames(10_000));
    const sorted = await list(world, '?sortBy=name&limit=3');
    assert.deepEqual([names(sorted), sorted.metadata.order], [['t0', 't1', 't10'], 'name']);
    await put(world, 'one-more');
    const plain = await list(world, '?limit=3');
    const unsorted = await list(world, '?sortBy=name&limit=3');
    assert.deepEqual([names(unsorted), unsorted.metadata.order], [names(plain), 'table']);
    const next = await list(world, `?sortBy=name&limit=3&continue=${unsorted.metadata.continue}`);
    assert.deepEqual(names(next), names(await list(world, `?limit=3&continue=${plain.metadata.continue}`)));
    await world.expect(410, 'GET', `/v1/targets?sortBy=name&continue=${sorted.metadata.continue}`);
  });

  inWorld('a page is full as long as more targets match, however few they are', async (world) => {
    await writeTargets(world, manyNames(9_000), { labelsOf: rareIf((name) => /^t8.00$/.test(name)) });
    const found = await pages(world, '?labelSelector=rare&limit=9');
    const [first, second, ...rest] = found.map(names);
    assert.deepEqual([first?.length, second?.length, rest], [9, 1, []]);
  });

  inWorld('a page ends early when 10,000 were looked at, and its token continues behind them', async (world) => {
    const placeOf = (name: string) => targetAddress('default', name).prefix;
    const last = manyNames(12_000).reduce((one, other) => (placeOf(one) < placeOf(other) ? other : one));
    await writeTargets(world, manyNames(12_000), { labelsOf: rareIf((name) => name === last) });
    const [first, ...rest] = (await pages(world, '?labelSelector=rare')).map(names);
    assert.deepEqual([first, rest], [[], [[last]]]);
  });

  test('a page ends early when its time is up, and loses none', async () => {
    let monotonicMs = 0;
    const wrapStore = (store: Store): Store => ({
      ...store,
      query: (query) => {
        monotonicMs += 1_000;
        return store.query(query);
      },
    });
    const world = apiWorld({ wrapStore, clock: { ...immediateClock(), monotonicMs: () => monotonicMs } });
    await writeTargets(world, manyNames(1_000));
    const found = await pages(world, '?limit=500');
    assert.ok(found.length > 10, `${found.length} pages`);
    assert.equal(new Set(found.flatMap(names)).size, 1_000);
    assert.equal((await list(world, '?sortBy=name')).metadata.order, 'table');
  });
});
