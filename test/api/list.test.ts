import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instantText } from '../../shared/api/instant-text.ts';
import { parseLabelSelector } from '../../shared/api/label-selector.ts';
import { targetHash } from '../../shared/store/keys.ts';
import { apiWorld, manifest, startMs, targetPath, type World } from './world.ts';

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

type List = {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly { readonly metadata: { readonly name: string; readonly namespace: string } }[];
};

async function list(world: World, query = ''): Promise<List> {
  const response = await world.request('GET', `/v1/targets${query}`);
  assert.equal(response.status, 200);
  return (await response.json()) as List;
}

const names = ({ items }: List) => items.map(({ metadata }) => metadata.name);

async function withTargets(count: number, namespace = 'default') {
  const world = apiWorld();
  for (let index = 0; index < count; index += 1) {
    const body = { ...manifest(), metadata: { labels: { parity: index % 2 === 0 ? 'even' : 'odd' } } };
    await world.request('PUT', targetPath(`t${index}`, namespace), { body });
  }
  return world;
}

describe('GET /v1/targets', () => {
  test('of an empty store is an empty list', async () =>
    assert.deepEqual(await list(apiWorld()), {
      apiVersion: 'probelet.dev/v1',
      kind: 'TargetList',
      metadata: {},
      items: [],
    } as unknown as List));

  test('lists every target in the order of the table', async () => {
    const world = await withTargets(12);
    const expected = Array.from({ length: 12 }, (_, index) => `t${index}`);
    assert.deepEqual(
      names(await list(world)),
      expected.toSorted((a, b) => targetHash('default', a).localeCompare(targetHash('default', b))),
    );
  });

  test('by namespace and label', async () => {
    const world = await withTargets(6);
    await world.request('PUT', targetPath('t0', 'other'), { body: manifest() });
    assert.equal((await list(world)).items.length, 7);
    assert.deepEqual(names(await list(world, '?namespace=other')), ['t0']);
    assert.deepEqual(names(await list(world, '?labelSelector=parity%3Deven')).sort(), ['t0', 't2', 't4']);
    assert.deepEqual(names(await list(world, '?namespace=other&labelSelector=parity')), []);
  });

  test('page by page gives each target once, and no token with the last page', async () => {
    const world = await withTargets(10);
    const all = names(await list(world));
    for (const limit of [1, 3, 5, 10]) {
      const seen: string[] = [];
      let token: string | undefined = '';
      let pages = 0;
      while (token !== undefined) {
        const page: List = await list(world, `?limit=${limit}&continue=${token}`);
        seen.push(...names(page));
        token = page.metadata.continue;
        pages += 1;
      }
      assert.deepEqual(seen, all);
      assert.equal(pages, Math.ceil(10 / limit));
    }
  });

  test('goes on behind its place when that target has gone', async () => {
    const world = await withTargets(4);
    const all = names(await list(world));
    const first = await list(world, '?limit=2');
    for (const { pk, sk } of await world.items(all[1] ?? ''))
      await world.store.write([{ kind: 'delete', key: { pk, sk } }], { token: sk });
    assert.deepEqual(names(await list(world, `?continue=${first.metadata.continue}`)), all.slice(2));
  });

  test('with more items in a bucket than one page of the store holds loses none', async () => {
    const world = apiWorld();
    const bucket = targetHash('default', 't0').slice(0, 2);
    const inBucket: string[] = [];
    for (let index = 0; inBucket.length < 30; index += 1)
      if (targetHash('default', `t${index}`).startsWith(bucket)) inBucket.push(`t${index}`);
    const probe = { tcpSocket: { port: 1 } };
    const containers = Array.from({ length: 20 }, (_, index) => ({
      name: `c${index}`,
      readinessProbe: probe,
      livenessProbe: probe,
    }));
    for (const name of inBucket)
      await world.request('PUT', targetPath(name), { body: { spec: { host: '127.0.0.1', containers } } });
    assert.deepEqual(names(await list(world)).sort(), inBucket.sort());
  });

  test('ends a page before it is larger than a function may answer', async () => {
    const world = apiWorld();
    const annotations = { note: 'x'.repeat(8_000) };
    const wanted = Array.from({ length: 450 }, (_, index) => `large-${index}`);
    for (const name of wanted)
      await world.request('PUT', targetPath(name), { body: { ...manifest(), metadata: { annotations } } });
    const found: string[] = [];
    for (let query = '?limit=500'; query !== ''; ) {
      const response = await world.request('GET', `/v1/targets${query}`);
      const text = await response.text();
      assert.ok(text.length < 3_100_000, `${text.length} characters`);
      const page = JSON.parse(text) as Parameters<typeof names>[0];
      found.push(...names(page));
      const { continue: token } = page.metadata;
      query = token === undefined ? '' : `?limit=500&continue=${token}`;
    }
    assert.deepEqual(found.sort(), wanted.sort());
  });

  test('with a parameter that is not valid is 400', async () => {
    const world = apiWorld();
    for (const query of [
      'limit=0',
      'limit=501',
      'limit=x',
      'labelSelector=a%20b',
      'continue=zzz',
      'continue=WzEsInp6IiwiYSJd',
      'continue=bnVsbA',
    ])
      assert.equal((await world.request('GET', `/v1/targets?${query}`)).status, 400, query);
  });
});

describe('an item that cannot be read', () => {
  const poisoned = async (kind: string) => {
    const world = await withTargets(3);
    const [item] = (await world.items('t1')).filter((each) => each.kind === kind);
    assert.ok(item);
    await world.store.write(
      [{ kind: 'put', item: { pk: item.pk, sk: item.sk, kind, schemaVersion: 1, spec: 'rubbish' } }],
      { token: 'poison' },
    );
    return world;
  };

  test('of the target leaves that target out of the list, alone, and is shown by /healthz', async () => {
    const world = await poisoned('TARGET');
    assert.deepEqual(names(await list(world)).sort(), ['t0', 't2']);
    const health = (await (await world.request('GET', '/healthz')).json()) as {
      quarantined: readonly { sk: string }[];
    };
    assert.match(health.quarantined[0]?.sk ?? '', /#default\/t1#TARGET$/);
  });

  test('of the target makes requests for it 409', async () => {
    const world = await poisoned('TARGET');
    const path = targetPath('t1');
    for (const [method, at, body] of [
      ['GET', path, undefined],
      ['PUT', path, manifest()],
      ['PATCH', path, {}],
      ['DELETE', path, undefined],
      ['POST', `${path}/probe`, undefined],
      ['GET', `${path}/events`, undefined],
    ] as const)
      assert.equal((await world.request(method, at, body === undefined ? {} : { body })).status, 409, method);
  });

  test('of the status shows the target with its status unknown', async () => {
    const world = await poisoned('STATUS');
    const response = await world.request('GET', targetPath('t1'));
    assert.partialDeepStrictEqual(await response.json(), { status: { phase: 'Unknown', reason: 'Quarantined' } });
  });

  test('of a probe shows that probe as unknown, and the target can still be replaced', async () => {
    const world = await poisoned('PROBE');
    const response = await world.request('GET', targetPath('t1'));
    const since = instantText(startMs);
    const unreadable = { result: 'unknown', reason: 'Quarantined', since, onHold: false, version: 0 };
    assert.deepEqual(((await response.json()) as { status: { probes: unknown } }).status.probes, [
      { container: 'main', probeType: 'readiness', ...unreadable },
    ]);
    assert.equal((await world.request('PUT', targetPath('t1'), { body: manifest('127.0.0.7') })).status, 200);
  });
});
