import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { documentedRoutes, ofOneProcess } from './documented-routes.ts';
import { apiWorld, testToken, type World } from './world.ts';

async function refusal(world: World, method: string, path: string) {
  const { body, places } = await world.expect(400, method, path);
  assert.equal(body.type, 'urn:probelet:problem:invalid-parameters');
  return { errors: body.errors, places };
}

describe('on every route', () => {
  test('a query parameter that it does not have is refused by name', async () => {
    const world = apiWorld(ofOneProcess);
    const routes = await documentedRoutes(world);
    assert.ok(routes.length > 10);
    for (const { method, path, parameters: known } of routes) {
      const detail = `unknown parameter; this route has ${known.join(', ') || 'none'}`;
      const { errors } = await refusal(world, method, `${path}?zzzzzzzz=1`);
      assert.deepEqual(errors, [{ parameter: 'zzzzzzzz', detail }], `${method} ${path}`);
    }
    assert.equal(await world.everything(), 0);
  });

  test('a misspelt query parameter is refused with the one that was meant', async () => {
    const world = apiWorld(ofOneProcess);
    for (const { method, path, parameters: known } of await documentedRoutes(world))
      for (const name of known)
        for (const slip of [name.toUpperCase(), `${name}x`, name.slice(1)].filter((each) => !known.includes(each))) {
          const { errors } = await refusal(world, method, `${path}?${slip}=1`);
          const meant = [{ parameter: slip, detail: `unknown parameter; did you mean ${name}?` }];
          assert.deepEqual(errors, meant, `${method} ${path}`);
        }
    assert.equal(await world.everything(), 0);
  });

  test('a query parameter that is given twice is refused', async () => {
    const world = apiWorld(ofOneProcess);
    for (const { method, path, parameters: known } of await documentedRoutes(world))
      for (const name of known) {
        const { errors } = await refusal(world, method, `${path}?${name}=1&${name}=1&${name}=2`);
        assert.deepEqual(errors, [{ parameter: name, detail: 'must be given once' }], `${method} ${path}`);
      }
    assert.equal(await world.everything(), 0);
  });
});

test('every wrong name is reported at once, up to a limit', async () => {
  const world = apiWorld();
  const { places } = await refusal(world, 'GET', '/v1/targets?limits=1&name=a&limit=1&limit=2');
  assert.deepEqual(places, ['limits', 'name', 'limit']);
  const many = Array.from({ length: 400 }, (_, index) => `x${index}=`).join('&');
  assert.equal((await refusal(world, 'GET', `/v1/targets?${many}`)).places.length, 50);
});

test('names that every object has are names as any other', async () => {
  const names = ['__proto__', 'constructor', 'toString', ''];
  const world = apiWorld();
  const query = names.map((name) => `${name}=1`).join('&');
  assert.deepEqual((await refusal(world, 'GET', `/v1/targets?${query}`)).places, names);
});

test('the parameters of a route are not checked before the token', async () => {
  await apiWorld({ token: testToken }).expect(401, 'GET', '/v1/targets?zzz=1');
});
