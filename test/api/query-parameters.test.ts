import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiWorld, testToken, type World } from './world.ts';

type Described = { readonly parameters?: readonly { readonly in: string; readonly name: string }[] };
type Document = { readonly paths: { readonly [path: string]: { readonly [method: string]: Described } } };
type Refusal = {
  readonly type: string;
  readonly errors: readonly { readonly parameter: string; readonly detail: string }[];
};

const ofOneProcess = { metrics: async () => 'up 1\n', watch: () => () => undefined };

/** Every route with the query parameters that its document describes. */
async function describedRoutes(world: World) {
  const document = (await (await world.request('GET', '/openapi.json')).json()) as Document;
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => ({
      method: method.toUpperCase(),
      path: path.replace('{namespace}', 'default').replace('{name}', 'checkout'),
      known: parameters.filter((each) => each.in === 'query').map(({ name }) => name),
    })),
  );
}

async function refusal(world: World, { method, path }: { readonly method: string; readonly path: string }) {
  const response = await world.request(method, path);
  assert.equal(response.status, 400, `${method} ${path}`);
  const { type, errors } = (await response.json()) as Refusal;
  assert.equal(type, 'urn:probelet:problem:invalid-parameters');
  return errors;
}

describe('on every route', () => {
  test('a query parameter that it does not have is refused by name', async () => {
    const world = apiWorld(ofOneProcess);
    const routes = await describedRoutes(world);
    assert.ok(routes.length > 10);
    for (const { method, path, known } of routes) {
      const detail =
        known.length === 0
          ? 'unknown parameter; this route has none'
          : `unknown parameter; this route has ${known.join(', ')}`;
      const errors = await refusal(world, { method, path: `${path}?zzzzzzzz=1` });
      assert.deepEqual(errors, [{ parameter: 'zzzzzzzz', detail }], `${method} ${path}`);
    }
    assert.equal(await world.everything(), 0);
  });

  test('a misspelt query parameter is refused with the one that was meant', async () => {
    const world = apiWorld(ofOneProcess);
    for (const { method, path, known } of await describedRoutes(world))
      for (const name of known)
        for (const slip of [name.toUpperCase(), `${name}x`, name.slice(1)].filter((each) => !known.includes(each))) {
          const errors = await refusal(world, { method, path: `${path}?${slip}=1` });
          const meant = [{ parameter: slip, detail: `unknown parameter; did you mean ${name}?` }];
          assert.deepEqual(errors, meant, `${method} ${path}`);
        }
    assert.equal(await world.everything(), 0);
  });

  test('a query parameter that is given twice is refused', async () => {
    const world = apiWorld(ofOneProcess);
    for (const { method, path, known } of await describedRoutes(world))
      for (const name of known) {
        const errors = await refusal(world, { method, path: `${path}?${name}=1&${name}=1&${name}=2` });
        assert.deepEqual(errors, [{ parameter: name, detail: 'must be given once' }], `${method} ${path}`);
      }
    assert.equal(await world.everything(), 0);
  });
});

test('every wrong name is reported at once, up to a limit', async () => {
  const world = apiWorld();
  const errors = await refusal(world, { method: 'GET', path: '/v1/targets?limits=1&name=a&limit=1&limit=2' });
  assert.deepEqual(
    errors.map(({ parameter }) => parameter),
    ['limits', 'name', 'limit'],
  );
  const many = Array.from({ length: 400 }, (_, index) => `x${index}=`).join('&');
  assert.equal((await refusal(world, { method: 'GET', path: `/v1/targets?${many}` })).length, 50);
});

test('names that every object has are names as any other', async () => {
  const names = ['__proto__', 'constructor', 'toString', ''];
  const world = apiWorld();
  const errors = await refusal(world, {
    method: 'GET',
    path: `/v1/targets?${names.map((name) => `${name}=1`).join('&')}`,
  });
  assert.deepEqual(
    errors.map(({ parameter }) => parameter),
    names,
  );
});

test('a route is not asked for its parameters before the caller has shown a token', async () => {
  const response = await apiWorld({ token: testToken }).request('GET', '/v1/targets?zzz=1');
  assert.equal(response.status, 401);
});
