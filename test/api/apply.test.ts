/** Many targets in one request: `PUT /v1/namespaces/{namespace}/targets`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { largeBytesMax, requestBodyBytesMax } from '../../shared/api/http/body.ts';
import type { ApiDeps } from '../../shared/api/ports/deps.ts';
import { manifestsMax } from '../../shared/api/routes/apply.ts';
import { type Store, StoreUnavailable } from '../../shared/store/store.ts';
import { apiWorld, inWorld, losingStore, manifest, targetPath, targetsPath, type World, yaml } from './world.ts';

type Item = {
  readonly document: number;
  readonly item?: number;
  readonly name?: string;
  readonly status: number;
  readonly change?: string;
  readonly warning?: string;
  readonly target?: { readonly metadata: { readonly resourceVersion: string; readonly labels: object } };
  readonly problem?: { readonly type: string; readonly errors?: readonly { readonly pointer: string }[] };
};
type Answer = { readonly failed: number; readonly items: readonly Item[] };

const named = (name: string, host = '127.0.0.1') => ({ metadata: { name }, ...manifest(host) });
const list = (...items: readonly unknown[]) => ({ apiVersion: 'v1', kind: 'List', items });
const yamlOf = (...documents: readonly unknown[]) => documents.map((each) => stringify(each)).join('---\n');

async function put(world: World, body: unknown, { query = '', headers = {} } = {}) {
  const type = typeof body === 'string' ? yaml : {};
  const answered = await world.ask<Answer>('PUT', targetsPath + query, body, { ...type, ...headers });
  return { ...answered, answer: answered.body };
}

/** Of each item its document, its place there if it is one of a List, its name and its status: `0.1 b 201`. */
const rows = ({ items }: Answer) =>
  items.map(({ document, item, name, status }) => `${[document, item ?? []].flat().join('.')} ${name} ${status}`);

const isThere = async (world: World, name: string) => (await world.request('GET', targetPath(name))).status === 200;

describe('what a body may hold', () => {
  const two = [named('a'), named('b')] as const;
  const podList = { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '9' }, items: two };
  const mixed = `---\n# none\n---\n${yamlOf(named('a'), list(named('b'), named('c')), null, named('d'))}---\n`;
  const bodies: readonly (readonly [what: string, body: unknown, places: readonly string[]])[] = [
    ['one target', named('a'), ['0 a 201']],
    ['a List', list(...two), ['0.0 a 201', '0.1 b 201']],
    ['a PodList, whose items have no kind', podList, ['0.0 a 201', '0.1 b 201']],
    ['an empty List', list(), []],
    ['documents of YAML', yamlOf(...two), ['0 a 201', '1 b 201']],
    [
      'documents and Lists, where empty documents do not count',
      mixed,
      ['0 a 201', '1.0 b 201', '1.1 c 201', '2 d 201'],
    ],
  ];
  for (const [what, body, places] of bodies)
    inWorld(what, async (world) => {
      const { status, answer } = await put(world, body);
      assert.deepEqual([status, answer.failed, rows(answer)], [200, 0, places]);
      for (const { name } of answer.items) assert.ok(await isThere(world, String(name)));
    });

  inWorld('what GET /v1/targets shows, which changes nothing', async (world) => {
    await put(world, list(named('a'), named('b')));
    const { answer } = await put(world, (await world.ask('GET', '/v1/targets')).body);
    const versions = answer.items.map(({ status, target }) => `${status} ${target?.metadata.resourceVersion}`);
    assert.deepEqual(versions, ['200 1', '200 1']);
  });
});

describe('each manifest has an answer of its own', () => {
  inWorld('that of its PUT, with the target', async (world) => {
    const { answer } = await put(world, named('a'));
    assert.deepEqual(answer.items[0]?.target, (await world.ask('GET', targetPath('a'))).body);
  });

  inWorld('200 once it exists, and what is not named stays', async (world) => {
    await put(world, list(named('a'), named('b')));
    const { answer } = await put(world, list(named('a', '127.0.0.2'), named('c')));
    assert.deepEqual(rows(answer), ['0.0 a 200', '0.1 c 201']);
    assert.ok(await isThere(world, 'b'));
  });

  inWorld('with what was done, also where the answer of the store is lost', async (world) => {
    await put(world, list(named('a'), named('b')));
    const changes = async (query = '') => {
      const { answer } = await put(world, list(named('a', '127.0.0.2'), named('b'), named('c'), {}), { query });
      return answer.items.map(({ change }) => change);
    };
    for (const query of ['?dryRun=true', ''])
      assert.deepEqual(await changes(query), ['configured', 'unchanged', 'created', undefined]);
    assert.deepEqual(await changes(), ['unchanged', 'unchanged', 'unchanged', undefined]);
    const { lost, wrapStore } = losingStore();
    lost.next = false;
    const doubted = apiWorld({ wrapStore });
    await put(doubted, named('a'));
    lost.next = true;
    const { answer } = await put(doubted, named('a', '127.0.0.2'));
    assert.deepEqual([answer.items[0]?.change, lost.next], ['configured', false]);
  });

  inWorld('one whose uid or resourceVersion is not the stored one is refused, as its PUT would be', async (world) => {
    await put(world, named('a'));
    const meant = (metadata: object) => ({ ...named('a'), metadata: { name: 'a', ...metadata } });
    for (const [metadata, status] of [
      [{ resourceVersion: '1' }, 200],
      [{ resourceVersion: '7' }, 409],
      [{ uid: 'another' }, 409],
    ] as const)
      assert.equal((await put(world, list(meant(metadata)))).answer.items[0]?.status, status);
  });

  inWorld('one that is refused keeps none back, and its pointers begin at the manifest', async (world) => {
    const wrong = { metadata: { name: 'b' }, spec: { host: 'b', readinessProbe: { tcpSocket: { port: 0 } } } };
    const { answer } = await put(world, list(named('a'), wrong, named('c')));
    assert.equal(answer.failed, 1);
    assert.deepEqual(rows(answer), ['0.0 a 201', '0.1 b 422', '0.2 c 201']);
    const [error, ...others] = answer.items[1]?.problem?.errors ?? [];
    assert.deepEqual([error?.pointer, others], ['/spec/readinessProbe/tcpSocket/port', []]);
    assert.ok(!(await isThere(world, 'b')));
  });

  test('names what was not stored of it', async () => {
    const { answer } = await put(apiWorld(), list({ ...named('a'), status: { phase: 'Running' } }, named('b')));
    const warnings = answer.items.map(({ warning }) => warning);
    assert.deepEqual(warnings, ['not stored, does not concern probing: status.phase', undefined]);
  });

  inWorld('409 while it terminates', async (world) => {
    await put(world, named('a'));
    await world.request('DELETE', targetPath('a'));
    const { answer } = await put(world, list(named('a'), named('b')));
    assert.deepEqual(rows(answer), ['0.0 a 409', '0.1 b 201']);
  });

  test('429 beyond a limit', async () => {
    const quotas: ApiDeps['quotas'] = {
      take: async (prefix) =>
        prefix.includes('/b#')
          ? { kind: 'exceeded', excess: { limit: 'targetsMax', max: 1, now: 1, asked: 1 } }
          : { kind: 'taken', end: () => undefined },
    };
    const { answer } = await put(apiWorld({ quotas }), list(named('a'), named('b')));
    assert.deepEqual(rows(answer), ['0.0 a 201', '0.1 b 429']);
    assert.partialDeepStrictEqual(answer.items[1]?.problem, { quota: { limit: 'targetsMax', max: 1 } });
  });
});

describe('nothing is stored', () => {
  const unchanged = async (body: unknown, options: Parameters<typeof put>[2], status: number) => {
    const world = apiWorld();
    const answered = await put(world, body, options);
    assert.equal(answered.status, status);
    assert.equal(await world.everything(), 0);
    return answered;
  };

  test('with dryRun, and each answer is as without', async () => {
    const { answer } = await unchanged(list(named('a'), named('b'), {}), { query: '?dryRun=true' }, 200);
    assert.deepEqual(rows(answer), ['0.0 a 201', '0.1 b 201', '0.2 undefined 422']);
  });

  test('of a body of which one document cannot be parsed', async () => {
    await unchanged(`${yamlOf(named('a'))}---\n{`, {}, 400);
  });

  test('of a body with more manifests than may be', async () => {
    const many = (count: number) => list(...Array.from({ length: count }, (_, index) => named(`t${index}`)));
    await unchanged(many(manifestsMax + 1), {}, 422);
    const { answer } = await put(apiWorld(), many(manifestsMax), { query: '?dryRun=true' });
    assert.deepEqual([answer.failed, answer.items.length], [0, manifestsMax]);
  });

  test('of a body with more values in all documents than YAML may have', async () => {
    const copied = `a: &a [${Array(200).fill(1).join(',')}]\nb: [${Array(10).fill('*a').join(',')}]\n`;
    const { text } = await unchanged(Array(11).fill(copied).join('---\n'), {}, 400);
    assert.match(text, /more than 20000 values/);
  });

  test('of a body with more tokens than YAML may have', async () => {
    const flat = `[${Array(2_000).fill(1).join(',')}]\n`;
    const { text } = await unchanged(Array(11).fill(flat).join('---\n'), {}, 400);
    assert.match(text, /"more than 32768 tokens \(at character \d+\)"/);
  });

  test('of a body that is too large', async () => {
    const space = (bytes: number, text: string) => text + ' '.repeat(bytes - text.length);
    const [json, yaml] = [JSON.stringify(named('a')), yamlOf(named('a'))];
    const asJson = { headers: { 'content-type': 'application/json' } };
    await unchanged(space(largeBytesMax + 1, json), asJson, 413);
    await unchanged(space(requestBodyBytesMax + 1, yaml), {}, 413);
    assert.equal((await put(apiWorld(), space(largeBytesMax, json), asJson)).status, 200);
    assert.equal((await put(apiWorld(), space(requestBodyBytesMax, yaml), {})).status, 200);
  });

  for (const header of ['if-match', 'if-none-match'])
    test(`with ${header}, which is for one target`, async () => {
      const { text } = await unchanged(named('a'), { headers: { [header]: '*' } }, 400);
      assert.match(text.toLowerCase(), new RegExp(`"parameter":"${header}"`));
    });
});

describe('a store that is unreachable', () => {
  const failing = (isLost: (key: string) => boolean) => ({
    wrapStore: (store: Store): Store => ({
      ...store,
      query: (asked) =>
        isLost(JSON.stringify(asked)) ? Promise.reject(new StoreUnavailable('lost')) : store.query(asked),
    }),
  });

  test('for one target is 503 for that one', async () => {
    const { answer } = await put(apiWorld(failing((key) => key.includes('/b#'))), list(named('a'), named('b')));
    assert.deepEqual(rows(answer), ['0.0 a 201', '0.1 b 503']);
  });

  test('for all of them is 503 for the request, with a time to come back', async () => {
    const { status, headers } = await put(apiWorld(failing(() => true)), list(named('a'), named('b')));
    assert.deepEqual([status, headers.get('retry-after')], [503, '1']);
  });

  test('and slow leaves the rest of the body to the next request', async () => {
    const clock = slowClock(2_000);
    const body = list(...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => named(name)));
    const { answer } = await put(apiWorld({ clock }), body);
    const statuses = answer.items.map(({ status, problem }) => [status, problem?.type]);
    const begun = statuses.filter(([status]) => status === 201).length;
    assert.ok(begun > 0 && begun < 6, `${begun} begun`);
    const notBegun = [503, 'urn:probelet:problem:not-begun'];
    assert.deepEqual(statuses.slice(begun), Array(6 - begun).fill(notBegun));
  });
});

/** A clock on which some time passes at each look. */
function slowClock(stepMs: number): ApiDeps['clock'] {
  const { clock } = apiWorld();
  let monotonicMs = 0;
  return { ...clock, monotonicMs: () => (monotonicMs += stepMs) };
}

describe('the answer is bounded', () => {
  /** What Lambda answers with at most, where each quotation mark counts twice. */
  const encodedBytesMax = 6 * 1024 * 1024;
  const encodedBytes = (text: string) => Buffer.byteLength(JSON.stringify(text));

  test('where all targets together are large: the last ones are not shown', async () => {
    const probe = { tcpSocket: { port: 1 } };
    const probes = { startupProbe: { exec: { command: ['$(e)'] } }, readinessProbe: probe, livenessProbe: probe };
    const containers = Array.from({ length: 20 }, (_, index) => ({
      name: `c${index}`,
      env: Array(28).fill({ name: 'e' }),
      ...probes,
    }));
    const large = (name: string) => ({ metadata: { name }, spec: { host: 'a', containers } });
    const body = list(...Array.from({ length: manifestsMax }, (_, index) => large(`t${index}`)));
    const { answer, text } = await put(apiWorld(), body, { query: '?dryRun=true' });
    assert.ok(encodedBytes(text) < encodedBytesMax);
    assert.ok(answer.items.every(({ status }) => status === 201));
    const shown = answer.items.map(({ target }) => target !== undefined);
    assert.ok(shown[0] && !shown.at(-1));
  });

  test('where each error repeats a long name: the last ones are not shown', async () => {
    const wrong = `[${Array(60).fill('{"__proto__":1}').join(',')}]`;
    const items = Array.from({ length: manifestsMax }, () => `{"${'x'.repeat(9_000)}":${wrong}}`);
    const body = `{"apiVersion":"v1","kind":"List","items":[${items.join(',')}]}`;
    const { answer, text } = await put(apiWorld(), body, { headers: { 'content-type': 'application/json' } });
    assert.ok(encodedBytes(text) < encodedBytesMax, String(encodedBytes(text)));
    assert.ok(answer.items.every(({ status }) => status === 422));
    const isNamed = answer.items.map(({ problem }) => problem?.errors !== undefined);
    assert.ok(isNamed[0] && !isNamed.at(-1));
  });
});

inWorld('a route for one target says which takes several', async (world) => {
  const several = 'PUT /v1/namespaces/{namespace}/targets takes several';
  const refused = async (body: unknown, headers = {}) => (await world.ask('PUT', targetPath('a'), body, headers)).text;
  assert.ok((await refused(list(named('a')))).includes(several));
  assert.ok((await refused(yamlOf(named('a'), named('b')), { 'content-type': 'text/yaml' })).includes(several));
  assert.equal(await world.everything(), 0);
});

test('a route for one target takes a document beside empty ones', async () => {
  const body = `---\n${yamlOf(manifest())}---\n# the end\n`;
  await apiWorld().expect(201, 'PUT', targetPath('a'), body, yaml);
});
