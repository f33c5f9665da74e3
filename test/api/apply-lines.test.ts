/** Thousands of targets in one request: `PUT /v1/targets:apply`, one a line. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { census } from '../../functions/local/process/census.ts';
import { requestBodyBytesMax } from '../../shared/api/http/body.ts';
import { applyLinesBytesMax, applyLinesMax } from '../../shared/api/routes/apply-lines.ts';
import { linesAtOnce } from '../../shared/api/targets/apply-lines.ts';
import { processLimits } from '../../shared/core/shards/quota.ts';
import { type Store, StoreUnavailable } from '../../shared/store/store.ts';
import { immediateClock } from '../support/immediate-clock.ts';
import { apiWorld, inWorld, losingStore, manifest, targetPath, type World } from './world.ts';

const path = '/v1/targets:apply';
const ndjson = { 'content-type': 'application/x-ndjson' };

type Line = {
  readonly line: number;
  readonly namespace?: string;
  readonly name?: string;
  readonly status: number;
  readonly change?: string;
  readonly warning?: string;
  readonly problem?: {
    readonly type: string;
    readonly detail: string;
    readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  };
};

const named = (name: string, namespace = 'default', more: object = {}) => ({
  metadata: { namespace, name, ...more },
  ...manifest(),
});
const bodyOf = (...lines: readonly unknown[]) =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
const linesOf = (text: string): readonly Line[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

async function put(world: World, body: string, { query = '', headers = {} } = {}): Promise<readonly Line[]> {
  const { text } = await world.expect(200, 'PUT', path + query, body, { ...ndjson, ...headers });
  return linesOf(text);
}

/** `1 default/a 201 created` */
const rows = (lines: readonly Line[]) =>
  lines.map(({ line, namespace, name, status, change, problem }) =>
    [line, `${namespace}/${name}`, status, change ?? problem?.type.split(':').at(-1)].join(' '),
  );

const isThere = async (world: World, name: string, namespace?: string) =>
  (await world.request('GET', targetPath(name, namespace))).status === 200;

/** A request whose body arrives in these pieces. */
const streamed = (body: ReadableStream<Uint8Array>, headers = {}) =>
  new Request(`http://probelet.test${path}`, {
    method: 'PUT',
    headers: { ...ndjson, ...headers },
    body,
    duplex: 'half',
  });

describe('each line has an answer of its own, in the order of the body', () => {
  inWorld('for targets of several namespaces', async (world) => {
    const body = bodyOf(named('a'), named('b', 'other'), named('c'));
    const created = ['1 default/a 201 created', '2 other/b 201 created', '3 default/c 201 created'];
    assert.deepEqual(rows(await put(world, body)), created);
    assert.ok(await isThere(world, 'b', 'other'));
    const again = created.map((row) => row.replace('201 created', '200 unchanged'));
    assert.deepEqual(rows(await put(world, body)), again);
    const other = await put(world, bodyOf({ ...named('a'), ...manifest('127.0.0.2') }));
    assert.deepEqual(rows(other), ['1 default/a 200 configured']);
  });

  inWorld('with blank lines, which count but have none, and without a last line break', async (world) => {
    const body = `\n${bodyOf(named('a'), '', ' \r')}${JSON.stringify(named('b'))}`;
    assert.deepEqual(rows(await put(world, body)), ['2 default/a 201 created', '5 default/b 201 created']);
  });

  inWorld('and a line that is refused stops none of the others', async (world) => {
    const wrong = { metadata: { namespace: 'default', name: 'w' }, spec: { host: 'a', readinessProbes: 1 } };
    const long = JSON.stringify(named('l', 'default', { annotations: { a: 'x'.repeat(requestBodyBytesMax) } }));
    const bad = ['{', '\u0000', '1', '[]', wrong, long, manifest(), { metadata: { name: 'n' }, ...manifest() }];
    const lines = await put(world, bodyOf(...bad, named('last')));
    assert.deepEqual(rows(lines), [
      '1 undefined/undefined 400 malformed-body',
      '2 undefined/undefined 400 malformed-body',
      '3 undefined/undefined 422 invalid-fields',
      '4 undefined/undefined 422 invalid-fields',
      '5 default/w 422 invalid-fields',
      '6 undefined/undefined 413 body-too-large',
      '7 undefined/undefined 422 invalid-fields',
      '8 undefined/n 422 invalid-fields',
      '9 default/last 201 created',
    ]);
    const places = (line: number) => lines[line - 1]?.problem?.errors?.map(({ pointer }) => pointer);
    assert.deepEqual(places(5), ['/spec/readinessProbes', '/spec/containers']);
    assert.deepEqual(places(7), ['/metadata/namespace', '/metadata/name']);
    assert.deepEqual(places(8), ['/metadata/namespace']);
  });

  inWorld('and a body that is not UTF-8 spoils only the line where it is not', async (world) => {
    const [a, b] = [bodyOf(named('a')), bodyOf(named('b'))];
    const bytes = Buffer.concat([Buffer.from(a), Buffer.from([0x22, 0xff, 0x22, 0x0a]), Buffer.from(b)]);
    const response = await world.app.fetch(streamed(new Blob([bytes]).stream()));
    const statuses = linesOf(await response.text()).map(({ status }) => status);
    assert.deepEqual(statuses, [201, 400, 201]);
  });

  inWorld('wherever the pieces of the body are cut', async (world) => {
    const bytes = Buffer.from(bodyOf(named('ä'), named('a'), named('b')));
    async function* pieces() {
      for (const byte of bytes) yield Uint8Array.of(byte);
    }
    const response = await world.app.fetch(streamed(ReadableStream.from(pieces())));
    const statuses = linesOf(await response.text()).map(({ status }) => status);
    assert.deepEqual(statuses, [422, 201, 201]);
  });
});

describe('the rules are those of a PUT of the line alone', () => {
  inWorld('problem by problem', async (world) => {
    const bodies = [
      { ...named('a'), spec: {} },
      { ...named('a'), kind: 'Deployment', apiVersion: 'apps/v1' },
      { apiVersion: 'v1', kind: 'List', items: [] },
      named('a', 'default', { uid: 'none' }),
      named('a', 'default', { uid: 1 }),
      named('A'),
      named('a', 'default', { labels: { '-': 'x' } }),
    ];
    for (const body of bodies) {
      const [line] = await put(world, bodyOf(body));
      const name = 'metadata' in body ? String(body.metadata.name) : 'a';
      const alone = await world.request('PUT', targetPath(name), body);
      assert.equal(line?.status, alone.status, JSON.stringify(body));
      if ('metadata' in body) assert.deepEqual(line?.problem, JSON.parse(await alone.text()));
    }
    assert.equal(await world.everything(), 0);
  });

  inWorld('a resourceVersion or uid that is not the stored one is a conflict', async (world) => {
    await put(world, bodyOf(named('a')));
    const versions = ['1', '2'].map((resourceVersion) => named('a', 'default', { resourceVersion }));
    const [right] = await put(world, bodyOf(versions[0]));
    const [wrong] = await put(world, bodyOf(versions[1]));
    assert.deepEqual([right?.status, wrong?.status], [200, 409]);
  });

  inWorld('a warning says what was not stored', async (world) => {
    const pod = { ...named('p'), apiVersion: 'v1', kind: 'Pod', spec: { ...manifest().spec, nodeName: 'n' } };
    const [line] = await put(world, bodyOf(pod));
    const { headers } = await world.request('PUT', targetPath('p'), pod);
    assert.match(line?.warning ?? '', /spec\.nodeName/);
    assert.ok(headers.get('warning')?.includes(String(line?.warning)));
  });

  inWorld('dryRun stores nothing', async (world) => {
    const lines = await put(world, bodyOf(named('a'), { ...named('b'), spec: {} }), { query: '?dryRun=true' });
    assert.deepEqual(rows(lines), ['1 default/a 201 created', '2 default/b 422 invalid-fields']);
    assert.equal(await world.everything(), 0);
    await world.expect(400, 'PUT', `${path}?dryRun=yes`, bodyOf(named('a')), ndjson);
  });

  inWorld('a target that occurs twice is refused the second time', async (world) => {
    const lines = await put(world, bodyOf(named('a'), named('a', 'other'), named('a')));
    assert.deepEqual(rows(lines), [
      '1 default/a 201 created',
      '2 other/a 201 created',
      '3 default/a 422 invalid-fields',
    ]);
  });

  test('a quota is never exceeded, however many lines are under way', async () => {
    const first = apiWorld();
    const ports = { store: first.store, clock: immediateClock() };
    const quotas = census({ ...processLimits, targetsMax: 3 }, ports);
    const world = apiWorld({ store: first.store, quotas });
    const lines = await put(world, bodyOf(...Array.from({ length: 10 }, (_, index) => named(`t${index}`))));
    const statuses = lines.map(({ status }) => status);
    assert.deepEqual(statuses, [201, 201, 201, 429, 429, 429, 429, 429, 429, 429]);
  });

  test('a lost answer of the store does not make a second target', async () => {
    const { wrapStore } = losingStore();
    const inner = apiWorld();
    const world = apiWorld({ store: wrapStore(inner.store) });
    assert.deepEqual(rows(await put(world, bodyOf(named('a')))), ['1 default/a 200 configured']);
  });
});

describe('what is bounded', () => {
  inWorld('lines: those beyond the limit are not stored', async (world) => {
    const lines = await put(world, bodyOf(...Array.from({ length: applyLinesMax }, () => ''), named('a'), named('b')));
    assert.deepEqual(rows(lines), [`${applyLinesMax + 1} undefined/undefined 413 too-many-lines`]);
    assert.equal(await world.everything(), 0);
  });

  inWorld('bytes: refused at once where a header says so, else where the limit is passed', async (world) => {
    const tooMany = { ...ndjson, 'content-length': String(applyLinesBytesMax + 1) };
    await world.expect(413, 'PUT', path, bodyOf(named('a')), tooMany);
    async function* pieces() {
      yield Buffer.from(bodyOf(named('a')));
      for (let bytes = 0; bytes <= applyLinesBytesMax; bytes += requestBodyBytesMax)
        yield new Uint8Array(requestBodyBytesMax).fill(0x20);
      yield Buffer.from(`\n${bodyOf(named('b'))}`);
    }
    const response = await world.app.fetch(streamed(ReadableStream.from(pieces())));
    const [a, long, ...more] = rows(linesOf(await response.text()));
    assert.equal(a, '1 default/a 201 created');
    assert.match(String(long), /^2 .* 413 body-too-large$/);
    assert.deepEqual([more, await isThere(world, 'b')], [[], false]);
  });

  test('lines under way: the reader waits for them', async () => {
    const [world, held] = [apiWorld(), Promise.withResolvers<void>()];
    let [underWay, read] = [0, 0];
    const query: Store['query'] = async (asked) => {
      underWay += 1;
      await held.promise;
      underWay -= 1;
      return world.store.query(asked);
    };
    const slow = apiWorld({ store: { ...world.store, query } });
    const count = linesAtOnce * 3;
    async function* pieces() {
      for (; read < count; read += 1) yield Buffer.from(bodyOf(named(`t${read}`)));
    }
    const response = await slow.app.fetch(streamed(new ReadableStream(pulling(pieces()), { highWaterMark: 0 })));
    const text = response.text();
    for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    assert.equal(underWay, linesAtOnce);
    assert.ok(read <= linesAtOnce + 2, `${read} lines were read`);
    held.resolve();
    assert.equal(linesOf(await text).length, count);
  });

  test('an answer is sent although the next line has not come', async () => {
    const world = apiWorld();
    const more = Promise.withResolvers<void>();
    async function* pieces() {
      yield Buffer.from(bodyOf(named('a')));
      await more.promise;
      yield Buffer.from(bodyOf(named('b')));
    }
    const response = await world.app.fetch(streamed(ReadableStream.from(pieces())));
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    assert.deepEqual(rows(linesOf(Buffer.from(value ?? []).toString())), ['1 default/a 201 created']);
    more.resolve();
    const next = (await reader?.read()) ?? { value: undefined };
    assert.deepEqual(rows(linesOf(Buffer.from(next.value ?? []).toString())), ['2 default/b 201 created']);
  });

  test('time: lines that have not begun after 20 s say so', async () => {
    const still = immediateClock();
    let laterMs = 0;
    const world = apiWorld({ clock: { ...still, monotonicMs: () => still.monotonicMs() + laterMs } });
    async function* pieces() {
      yield Buffer.from(bodyOf(named('a')));
      while (!(await isThere(world, 'a'))) await new Promise(setImmediate);
      laterMs = 21_000;
      yield Buffer.from(bodyOf(named('b')));
    }
    const response = await world.app.fetch(streamed(ReadableStream.from(pieces())));
    const lines = rows(linesOf(await response.text()));
    assert.deepEqual(lines, ['1 default/a 201 created', '2 default/b 503 not-begun']);
  });

  inWorld('the answer: beyond a limit, problems have no list of errors', async (world) => {
    const wrong = JSON.stringify({
      spec: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`field${at}`, 1])),
    });
    const { text } = await world.expect(
      200,
      'PUT',
      path,
      bodyOf(...Array.from({ length: 1_500 }, () => wrong)),
      ndjson,
    );
    assert.ok(text.length < 3_500_000, `${text.length}`);
    const lines = linesOf(text);
    assert.ok(lines[0]?.problem?.errors);
    assert.deepEqual([lines.length, lines.at(-1)?.status, lines.at(-1)?.problem?.errors], [1_500, 422, undefined]);
  });
});

describe('what goes wrong', () => {
  test('a store that fails is the problem of the lines that it fails for', async () => {
    const world = apiWorld();
    const query: Store['query'] = async (asked) => {
      if (asked.from?.includes('/b#')) throw new StoreUnavailable('down');
      return world.store.query(asked);
    };
    const failing = apiWorld({ store: { ...world.store, query } });
    const lines = await put(failing, bodyOf(named('a'), named('b'), named('c')));
    assert.deepEqual(
      lines.map(({ status }) => status),
      [201, 503, 201],
    );
  });

  inWorld('a body that breaks off: its last line is not stored', async (world) => {
    async function* pieces() {
      yield Buffer.from(bodyOf(named('a')) + JSON.stringify(named('b')));
      throw new Error('reset');
    }
    const response = await world.app.fetch(streamed(ReadableStream.from(pieces())));
    const lines = rows(linesOf(await response.text()));
    assert.deepEqual(lines, ['1 default/a 201 created', '2 undefined/undefined 400 malformed-body']);
    assert.equal(await isThere(world, 'b'), false);
  });

  test('a client that goes away ends the reading of its body', async () => {
    const world = apiWorld();
    const ended = Promise.withResolvers<void>();
    async function* pieces() {
      try {
        for (let index = 0; ; index += 1) yield Buffer.from(bodyOf(named(`t${index}`)));
      } finally {
        ended.resolve();
      }
    }
    const response = await world.app.fetch(streamed(ReadableStream.from(pieces())));
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await ended.promise;
  });

  inWorld('another media type, and preconditions, which are for one target', async (world) => {
    const { headers } = await world.expect(415, 'PUT', path, named('a'));
    assert.equal(headers.get('accept'), 'application/x-ndjson');
    for (const condition of ['if-match', 'if-none-match'])
      await world.expect(400, 'PUT', path, bodyOf(named('a')), { ...ndjson, [condition]: '*' });
    assert.equal(await world.everything(), 0);
  });

  inWorld('an empty body has an empty answer', async (world) => {
    assert.deepEqual(await put(world, ''), []);
  });
});

/** A source that reads no further than it is asked. */
const pulling = (pieces: AsyncGenerator<Uint8Array>) => ({
  async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
    const { done, value } = await pieces.next();
    if (done) controller.close();
    else controller.enqueue(value);
  },
});
