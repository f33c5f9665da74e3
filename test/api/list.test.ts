import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseLabelSelector } from '../../shared/api/lists/label-selector.ts';
import { instantText } from '../../shared/api/targets/instant-text.ts';
import { changesPk, targetHash } from '../../shared/store/records/keys.ts';
import type { Store } from '../../shared/store/store.ts';
import type { Answer } from '../support/api-client.ts';
import { testsIn } from '../support/tests-in.ts';
import { list, names, pages } from './lists.ts';
import { manyNames, writeTargets } from './many-targets.ts';
import { apiWorld, inWorld, manifest, startMs, targetPath } from './world.ts';

const labels = { app: 'shop', tier: 'web', 'example.com/team': 'a', empty: '' };

/** As in Kubernetes' documentation of label selectors. */
const selectors: readonly (readonly [selector: string, matches: boolean])[] = [
  ['', true],
  ['app=shop', true],
  ['app==shop', true],
  ['app = shop', true],
  ['app=other', false],
  ['app!=other', true],
  ['app!=shop', false],
  ['none!=x', true],
  ['app=shop,tier=web', true],
  ['app=shop,tier=db', false],
  ['app in (shop, cart)', true],
  ['app in (cart)', false],
  ['app notin (cart)', true],
  ['app notin (shop,cart)', false],
  ['none notin (x)', true],
  ['none in (x)', false],
  ['app in (shop),tier notin (db),app', true],
  ['app', true],
  ['none', false],
  ['!none', true],
  ['!app', false],
  ['! none', true],
  ['example.com/team=a', true],
  ['empty=', true],
  ['empty in ()', true],
  ['in=x', false],
  ['empty in (,)', true],
  ['app in (cart,,shop)', true],
];

describe('label selectors', () => {
  for (const [selector, matches] of selectors)
    test(`${selector || '(empty)'} ${matches ? 'matches' : 'does not match'}`, () => {
      const parsed = parseLabelSelector(selector);
      assert.equal(parsed.kind === 'selector' && parsed.matches(labels), matches);
    });

  for (const selector of [
    ',',
    'a,',
    '=x',
    'a=b=c',
    'a in x',
    'a in (x',
    'a in (x))',
    'a is (b)',
    '-a=b',
    'a=-b',
    'a b',
    '!',
    'a in (b c)',
    'a>1',
    'x/y/z',
    `a=${'v'.repeat(64)}`,
  ])
    test(`${selector} is refused`, () => assert.equal(parseLabelSelector(selector).kind, 'invalid'));
});

async function withTargets(count: number) {
  const world = apiWorld();
  for (const [index, name] of manyNames(count).entries()) {
    const labels = { parity: index % 2 === 0 ? 'even' : 'odd' };
    await world.expect(201, 'PUT', targetPath(name), { ...manifest(), metadata: { labels } });
  }
  return world;
}

describe('GET /v1/targets', () => {
  test('of an empty store is an empty list', async () => {
    const empty = { apiVersion: 'probelet.dev/v1', kind: 'TargetList', metadata: {}, items: [] };
    assert.deepEqual<object>(await list(apiWorld()), empty);
  });

  test('lists every target in the order of the table', async () => {
    const world = await withTargets(12);
    const hashOf = (name: string) => targetHash('default', name);
    const expected = manyNames(12).toSorted((a, b) => hashOf(a).localeCompare(hashOf(b)));
    assert.deepEqual(names(await list(world)), expected);
  });

  test('by namespace and label', async () => {
    const world = await withTargets(6);
    await world.ask('PUT', targetPath('t0', 'other'), manifest());
    assert.equal((await list(world)).items.length, 7);
    assert.deepEqual(names(await list(world, '?namespace=other')), ['t0']);
    assert.deepEqual(names(await list(world, '?labelSelector=parity%3Deven')).sort(), ['t0', 't2', 't4']);
    assert.deepEqual(names(await list(world, '?namespace=other&labelSelector=parity')), []);
  });

  test('page by page gives each target once, and no token with the last page', async () => {
    const world = await withTargets(10);
    const all = names(await list(world));
    for (const limit of [1, 3, 5, 10]) {
      const found = await pages(world, `?limit=${limit}`);
      assert.deepEqual(found.flatMap(names), all);
      assert.equal(found.length, Math.ceil(10 / limit));
    }
  });

  test('continues behind its place when that target has gone', async () => {
    const world = await withTargets(4);
    const all = names(await list(world));
    const first = await list(world, '?limit=2');
    await world.remove(all[1] ?? '');
    assert.deepEqual(names(await list(world, `?continue=${first.metadata.continue}`)), all.slice(2));
  });

  inWorld('with more items in a bucket than one page of the store holds loses none', async (world) => {
    const bucket = targetHash('default', 't0').slice(0, 2);
    const inBucket: string[] = [];
    for (let index = 0; inBucket.length < 30; index += 1)
      if (targetHash('default', `t${index}`).startsWith(bucket)) inBucket.push(`t${index}`);
    const probe = { tcpSocket: { port: 1 } };
    const containers = manyNames(20).map((name) => ({ name, readinessProbe: probe, livenessProbe: probe }));
    for (const name of inBucket)
      await world.expect(201, 'PUT', targetPath(name), { spec: { host: '127.0.0.1', containers } });
    assert.deepEqual(names(await list(world)).sort(), inBucket.sort());
  });

  inWorld('ends a page before it is larger than a function may answer', async (world) => {
    const annotations = { note: 'x'.repeat(8_000) };
    const wanted = Array.from({ length: 450 }, (_, index) => `large-${index}`);
    for (const name of wanted) await world.ask('PUT', targetPath(name), { ...manifest(), metadata: { annotations } });
    const found: string[] = [];
    for (let token: string | undefined = ''; token !== undefined; ) {
      const { text, body }: Answer = await world.expect(200, 'GET', `/v1/targets?limit=500&continue=${token}`);
      assert.ok(text.length < 3_100_000, `${text.length} characters`);
      found.push(...names(body));
      token = body.metadata.continue;
    }
    assert.deepEqual(found.sort(), wanted.sort());
  });

  inWorld('with a parameter that is not valid is 400', async (world) => {
    for (const query of ['limit=0', 'limit=501', 'limit=x', 'labelSelector=a%20b'])
      await world.expect(400, 'GET', `/v1/targets?${query}`);
    for (const token of ['zzz', 'WzEsInp6IiwiYSJd', 'bnVsbA'])
      await world.expect(400, 'GET', `/v1/targets?continue=${token}`);
  });
});

describe('an item that cannot be read', () => {
  const inPoisoned = (kind: string) =>
    testsIn(async () => {
      const world = await withTargets(3);
      const item = await world.itemOf('t1', kind);
      assert.ok(item);
      await world.put({ pk: item.pk, sk: item.sk, kind, schemaVersion: 1, spec: 'rubbish' });
      return world;
    });

  inPoisoned('TARGET')(
    'of the target leaves that target out of the list, alone, and is shown by /healthz',
    async (world) => {
      assert.deepEqual(names(await list(world)).sort(), ['t0', 't2']);
      type Health = { readonly quarantined: readonly { readonly sk: string }[] };
      const { quarantined } = (await world.ask<Health>('GET', '/healthz')).body;
      assert.match(quarantined[0]?.sk ?? '', /#default\/t1#TARGET$/);
    },
  );

  inPoisoned('TARGET')('of the target makes requests for it 409', async (world) => {
    const path = targetPath('t1');
    for (const [method, at, body] of [
      ['GET', path, undefined],
      ['PUT', path, manifest()],
      ['PATCH', path, {}],
      ['DELETE', path, undefined],
      ['POST', `${path}/probe`, undefined],
      ['GET', `${path}/events`, undefined],
    ] as const)
      await world.expect(409, method, at, body);
  });

  inPoisoned('STATUS')('of the status shows the target with its status unknown', async (world) => {
    const { body } = await world.ask('GET', targetPath('t1'));
    assert.partialDeepStrictEqual(body, { status: { phase: 'Unknown', reason: 'Quarantined' } });
  });

  inPoisoned('PROBE')('of a probe shows that probe as unknown, and the target can still be replaced', async (world) => {
    type Shown = { readonly status: { readonly probes: unknown } };
    const { status } = (await world.ask<Shown>('GET', targetPath('t1'))).body;
    const since = instantText(startMs);
    const unreadable = { result: 'unknown', reason: 'Quarantined', since, onHold: false, version: 0 };
    assert.deepEqual(status.probes, [{ container: 'main', probeType: 'readiness', ...unreadable }]);
    await world.expect(200, 'PUT', targetPath('t1'), manifest('127.0.0.7'));
  });
});

test('a page reads the change counters of the buckets around it, not of all', async () => {
  const counted: number[] = [];
  const wrapStore = (store: Store): Store => ({
    ...store,
    async query(query) {
      const items = await store.query(query);
      if (query.pk === changesPk) counted.push(items.length);
      return items;
    },
  });
  const world = apiWorld({ wrapStore });
  const [count, limit] = [1_000, 50];
  await writeTargets(world, manyNames(count), { statuses: true });
  const listed = await pages(world, `?limit=${limit}`);
  assert.equal(new Set(listed.flatMap(names)).size, count);
  const perPage = counted.reduce((sum, read) => sum + read, 0) / listed.length;
  assert.ok(perPage <= 2 * 32, `${perPage} counters a page`);
});
