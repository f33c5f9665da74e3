import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StoreUnavailable } from '../../shared/store/store.ts';
import { apiWorld, manifest, targetPath, testToken } from './world.ts';

type Document = { readonly paths: { readonly [path: string]: { readonly [method: string]: object } } };

/** What only one process has. */
const ofOneProcess = { metrics: async () => 'up 1\n', watch: () => () => undefined };

const concrete = (path: string) => path.replace('{namespace}', 'default').replace('{name}', 'checkout');

async function documented(world: ReturnType<typeof apiWorld>, headers = {}) {
  const document = (await (await world.request('GET', '/openapi.json', { headers })).json()) as Document;
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ path: concrete(path), method: method.toUpperCase() })),
  );
}

test('the routes are these', async () => {
  const routes = await documented(apiWorld(ofOneProcess));
  assert.deepEqual(routes.map(({ method, path }) => `${method} ${path}`).sort(), [
    'DELETE /v1/namespaces/default/targets/checkout',
    'GET /healthz',
    'GET /metrics',
    'GET /openapi.json',
    'GET /v1/namespaces/default/targets',
    'GET /v1/namespaces/default/targets/checkout',
    'GET /v1/namespaces/default/targets/checkout/events',
    'GET /v1/targets',
    'GET /v1/watch',
    'PATCH /v1/namespaces/default/targets/checkout',
    'POST /v1/namespaces/default/targets',
    'POST /v1/namespaces/default/targets/checkout/probe',
    'POST /v1/namespaces/default/targets/checkout/restarted',
    'PUT /v1/namespaces/default/desired',
    'PUT /v1/namespaces/default/targets',
    'PUT /v1/namespaces/default/targets/checkout',
    'PUT /v1/namespaces/default/targets/checkout/status',
  ]);
});

describe('with a token', () => {
  const authorization = `Bearer ${testToken}`;

  test('every route but /healthz asks for it', async () => {
    const world = apiWorld({ ...ofOneProcess, token: testToken });
    for (const { method, path } of await documented(world, { authorization })) {
      const response = await world.request(method, path);
      assert.equal(response.status === 401, path !== '/healthz', `${method} ${path}`);
      if (response.status === 401) assert.equal(response.headers.get('www-authenticate'), 'Bearer');
    }
  });

  test('the document says so, and nothing of it where another asks', async () => {
    const read = async (world: ReturnType<typeof apiWorld>, headers = {}) =>
      JSON.stringify(await (await world.request('GET', '/openapi.json', { headers })).json());
    assert.match(await read(apiWorld({ token: testToken }), { authorization }), /"security":\[\{"bearer":\[\]\}\]/);
    assert.doesNotMatch(await read(apiWorld()), /bearer|"security"/);
  });

  test('a wrong one is refused before anything of the request is looked at', async () => {
    const world = apiWorld({ token: testToken });
    for (const wrong of [
      '',
      'Bearer',
      'Bearer x',
      `Basic ${testToken}`,
      testToken,
      `Bearer ${testToken}x`,
      `Bearer ${testToken} x`,
    ]) {
      const response = await world.request('PUT', targetPath('checkout'), {
        body: manifest(),
        headers: { authorization: wrong },
      });
      assert.equal(response.status, 401, wrong);
    }
    assert.equal(await world.everything(), 0);
  });

  test('the right one is let in', async () => {
    const world = apiWorld({ token: testToken });
    const response = await world.request('PUT', targetPath('checkout'), {
      body: manifest(),
      headers: { authorization },
    });
    assert.equal(response.status, 201);
  });
});

describe('what is not there', () => {
  for (const path of [
    '/',
    '/v1',
    '/v1/targets/',
    '/v1/namespaces/default/targets/',
    '/v1/namespaces/default',
    '/v2/targets',
    '/%',
    '/v1/namespaces//targets/x',
  ])
    test(`${path} is a 404 problem`, async () => {
      const response = await apiWorld().request('GET', path);
      assert.equal(response.status, 404);
      assert.equal(response.headers.get('content-type'), 'application/problem+json');
    });

  test('another method is 405 and says which are allowed', async () => {
    const rows = [
      ['POST', targetPath('checkout'), 'GET, PUT, PATCH, DELETE, HEAD'],
      ['OPTIONS', '/v1/targets', 'GET, HEAD'],
      ['DELETE', '/v1/namespaces/default/targets', 'GET, POST, PUT, HEAD'],
      ['GET', `${targetPath('checkout')}/status`, 'PUT'],
      ['PUT', '/healthz', 'GET, HEAD'],
    ] as const;
    for (const [method, path, allow] of rows) {
      const response = await apiWorld().request(method, path);
      assert.equal(response.status, 405);
      assert.equal(response.headers.get('allow'), allow);
      assert.equal(response.headers.get('content-type'), 'application/problem+json');
    }
  });

  test('a target with a name that nothing can have is 404', async () => {
    for (const name of ['nobody', 'A', '%00', '%E0%A4%A', 'x'.repeat(300)])
      assert.equal((await apiWorld().request('GET', targetPath(name))).status, 404, name);
  });
});

describe('HEAD', () => {
  test('answers as GET, without a body', async () => {
    const world = apiWorld();
    await world.request('PUT', targetPath('checkout'), { body: manifest() });
    const response = await world.request('HEAD', targetPath('checkout'));
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('etag'), '"1"');
    assert.equal(await response.text(), '');
  });
});

describe('/healthz', () => {
  test('is 200 while all is well, with what else there is to say', async () => {
    const world = apiWorld({ health: () => ({ ok: true, quarantined: [], details: { targets: 3 } }) });
    const response = await world.request('GET', '/healthz');
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { targets: 3, status: 'ok', quarantined: [] });
  });

  test('is 200 with items in quarantine, and names them', async () => {
    const poison = { key: { pk: 'B#00', sk: '00#default/x#TARGET' }, detail: 'spec: missing' };
    const world = apiWorld({ health: () => ({ ok: true, quarantined: [poison] }) });
    const response = await world.request('GET', '/healthz');
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), {
      status: 'ok',
      quarantined: [{ pk: 'B#00', sk: '00#default/x#TARGET', detail: 'spec: missing' }],
    });
  });

  test('is 503 otherwise', async () => {
    const world = apiWorld({ health: () => Promise.resolve({ ok: false, quarantined: [] }) });
    assert.equal((await world.request('GET', '/healthz')).status, 503);
  });
});

describe('/metrics', () => {
  test('is what the process has', async () => {
    const response = await apiWorld(ofOneProcess).request('GET', '/metrics');
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal(await response.text(), 'up 1\n');
  });

  test('is no route where they are shown elsewhere', async () => {
    const world = apiWorld();
    assert.equal((await world.request('GET', '/metrics')).status, 404);
    assert.ok(!(await documented(world)).some(({ path }) => path === '/metrics'));
  });
});

/** What the route takes, so that it gets as far as the store. */
function validBody(method: string, path: string): unknown {
  if (path.endsWith('desired')) return { names: [] };
  if (path.endsWith('status')) return { status: {} };
  if (method === 'POST' && path.endsWith('/targets')) return { ...manifest(), metadata: { generateName: 'a' } };
  if (method !== 'PUT' && method !== 'PATCH') return undefined;
  return path.endsWith('/targets') ? { ...manifest(), metadata: { name: 'checkout' } } : manifest();
}

describe('what goes wrong inside', () => {
  test('a store out of reach is 503 with a time to come back', async () => {
    const down = () => Promise.reject(new StoreUnavailable('down'));
    const world = apiWorld({ store: { get: down, query: down, write: down } });
    for (const { method, path } of await documented(world)) {
      if (!path.startsWith('/v1/') || path === '/v1/watch') continue;
      const body = validBody(method, path);
      const response = await world.request(method, path, body === undefined ? {} : { body });
      assert.equal(response.status, 503, `${method} ${path}`);
      assert.equal(response.headers.get('retry-after'), '1');
    }
  });

  test('a bug is 500, logged, and its message is not shown', async () => {
    const broken = () => Promise.reject(new Error('a secret'));
    const world = apiWorld({ store: { get: broken, query: broken, write: broken } });
    const response = await world.request('GET', targetPath('checkout'));
    assert.equal(response.status, 500);
    assert.doesNotMatch(await response.text(), /secret/);
    assert.equal(world.log.lines.at(-1)?.level, 'error');
  });

  test('a bus that does not take the wake-up does not fail the request', async () => {
    const world = apiWorld({ bus: { publish: async (events) => ({ failed: events.map((_, index) => index) }) } });
    assert.equal((await world.request('PUT', targetPath('checkout'), { body: manifest() })).status, 201);
    assert.equal(world.log.lines.at(-1)?.level, 'warn');
  });
});
