import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StoreUnavailable } from '../../shared/store/store.ts';
import { documentedRoutes, ofOneProcess } from './documented-routes.ts';
import { apiWorld, inWorld, manifest, registered, targetPath, testToken, type World } from './world.ts';

test('the routes are these', async () => {
  const routes = await documentedRoutes(apiWorld(ofOneProcess));
  assert.deepEqual(routes.map(({ method, path }) => `${method} ${path}`).sort(), [
    'DELETE /v1/namespaces/default/targets/checkout',
    'GET /healthz',
    'GET /metrics',
    'GET /openapi.json',
    'GET /v1/namespaces/default/targets',
    'GET /v1/namespaces/default/targets/checkout',
    'GET /v1/namespaces/default/targets/checkout/events',
    'GET /v1/prober',
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
    'PUT /v1/targets:apply',
  ]);
});

describe('with a token', () => {
  const authorization = `Bearer ${testToken}`;

  test('every route but /healthz asks for it', async () => {
    const world = apiWorld({ ...ofOneProcess, token: testToken });
    for (const { method, path } of await documentedRoutes(world, { authorization })) {
      const { status, headers } = await world.request(method, path);
      assert.equal(status === 401, path !== '/healthz', `${method} ${path}`);
      if (status === 401) assert.equal(headers.get('www-authenticate'), 'Bearer');
    }
  });

  test('the document says so, and nothing of it where another asks', async () => {
    const read = async (world: World, headers = {}) =>
      JSON.stringify((await world.ask('GET', '/openapi.json', undefined, headers)).body);
    assert.match(await read(apiWorld({ token: testToken }), { authorization }), /"security":\[\{"bearer":\[\]\}\]/);
    assert.doesNotMatch(await read(apiWorld()), /bearer|"security"/);
  });

  test('a wrong one is refused before anything of the request is looked at', async () => {
    const world = apiWorld({ token: testToken });
    const ofToken = ['Basic TOKEN', 'TOKEN', 'Bearer TOKENx', 'Bearer TOKEN x'];
    for (const wrong of ['', 'Bearer', 'Bearer x', ...ofToken.map((each) => each.replace('TOKEN', testToken))])
      await world.expect(401, 'PUT', targetPath('checkout'), manifest(), { authorization: wrong });
    assert.equal(await world.everything(), 0);
  });

  test('the right one is let in', async () => {
    const world = apiWorld({ token: testToken });
    await world.expect(201, 'PUT', targetPath('checkout'), manifest(), { authorization });
  });
});

describe('what is not there', () => {
  const paths = ['/', '/v1', '/v1/targets/', '/v2/targets', '/%', '/v1/namespaces/default'];
  for (const path of [...paths, '/v1/namespaces/default/targets/', '/v1/namespaces//targets/x'])
    test(`${path} is a 404 problem`, async () => {
      const { headers } = await apiWorld().expect(404, 'GET', path);
      assert.equal(headers.get('content-type'), 'application/problem+json');
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
      const { headers } = await apiWorld().expect(405, method, path);
      assert.equal(headers.get('allow'), allow);
      assert.equal(headers.get('content-type'), 'application/problem+json');
    }
  });

  test('a target with a name that nothing can have is 404', async () => {
    for (const name of ['nobody', 'A', '%00', '%E0%A4%A', 'x'.repeat(300)])
      await apiWorld().expect(404, 'GET', targetPath(name));
  });
});

describe('HEAD', () => {
  test('answers as GET, without a body', async () => {
    const { etag, text } = await (await registered()).expect(200, 'HEAD', targetPath('checkout'));
    assert.deepEqual([etag, text], ['"1"', '']);
  });
});

describe('/healthz', () => {
  test('is 200 while all is well, with what else there is to say', async () => {
    const world = apiWorld({ health: () => ({ ok: true, quarantined: [], details: { targets: 3 } }) });
    const { body } = await world.expect<object>(200, 'GET', '/healthz');
    assert.deepEqual(body, { targets: 3, status: 'ok', quarantined: [] });
  });

  test('is 200 with items in quarantine, and names them', async () => {
    const poison = { key: { pk: 'B#00', sk: '00#default/x#TARGET' }, detail: 'spec: missing' };
    const world = apiWorld({ health: () => ({ ok: true, quarantined: [poison] }) });
    const { body } = await world.expect<object>(200, 'GET', '/healthz');
    const quarantined = [{ pk: 'B#00', sk: '00#default/x#TARGET', detail: 'spec: missing' }];
    assert.deepEqual(body, { status: 'ok', quarantined });
  });

  test('is 503 otherwise', async () => {
    const world = apiWorld({ health: () => Promise.resolve({ ok: false, quarantined: [] }) });
    await world.expect(503, 'GET', '/healthz');
  });
});

describe('/metrics', () => {
  test('is what the process has', async () => {
    const { headers, text } = await apiWorld(ofOneProcess).ask('GET', '/metrics');
    assert.deepEqual([headers.get('content-type'), text], ['text/plain; version=0.0.4', 'up 1\n']);
  });

  inWorld('is no route where they are shown elsewhere', async (world) => {
    await world.expect(404, 'GET', '/metrics');
    assert.ok(!(await documentedRoutes(world)).some(({ path }) => path === '/metrics'));
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
  test('an unreachable store is 503 with a time to come back', async () => {
    const down = () => Promise.reject(new StoreUnavailable('down'));
    const world = apiWorld({ store: { get: down, query: down, write: down } });
    for (const { method, path } of await documentedRoutes(world)) {
      // A stream begins before the store is asked.
      if (!path.startsWith('/v1/') || ['/v1/watch', '/v1/targets:apply'].includes(path)) continue;
      const { headers } = await world.expect(503, method, path, validBody(method, path));
      assert.equal(headers.get('retry-after'), '1');
    }
  });

  test('a bug is 500, logged, and its message is not shown', async () => {
    const broken = () => Promise.reject(new Error('a secret'));
    const world = apiWorld({ store: { get: broken, query: broken, write: broken } });
    assert.doesNotMatch((await world.expect(500, 'GET', targetPath('checkout'))).text, /secret/);
    assert.equal(world.log.lines.at(-1)?.level, 'error');
  });

  test('a bus that does not take the wake-up does not fail the request', async () => {
    const world = apiWorld({ bus: { publish: async (events) => ({ failed: events.map((_, index) => index) }) } });
    await world.expect(201, 'PUT', targetPath('checkout'), manifest());
    assert.equal(world.log.lines.at(-1)?.level, 'warn');
  });
});
