import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiWorld, targetPath } from './world.ts';

const path = targetPath('checkout');
const probe = { tcpSocket: { port: 1 } };
const body = {
  spec: {
    host: '127.0.0.1',
    containers: [
      { name: 'a', readinessProbe: probe, livenessProbe: probe },
      { name: 'b', readinessProbe: probe },
      { name: 'c' },
    ],
  },
};

async function registered() {
  const world = apiWorld();
  assert.equal((await world.request('PUT', path, { body })).status, 201);
  return world;
}

const requests = async (world: Awaited<ReturnType<typeof registered>>) =>
  (await world.items('checkout')).find(({ kind }) => kind === 'TARGET')?.probeRequests;

describe('POST …/probe', () => {
  test('without a body asks for every probe', async () => {
    const world = await registered();
    const response = await world.request('POST', `${path}/probe`);
    assert.equal(response.status, 202);
    assert.deepEqual(await response.json(), {
      probes: [
        { container: 'a', probeType: 'readiness' },
        { container: 'a', probeType: 'liveness' },
        { container: 'b', probeType: 'readiness' },
      ],
    });
    assert.deepEqual(await requests(world), { 'a#readiness': 1, 'a#liveness': 1, 'b#readiness': 1 });
  });

  test('with an empty stream, as a server passes on a POST without a body, asks for every probe', async () => {
    const world = await registered();
    const send = (text: string) =>
      world.app.fetch(
        new Request(`http://probelet.test${path}/probe`, {
          method: 'POST',
          body: new Blob([text]).stream(),
          duplex: 'half',
        }),
      );
    assert.equal((await send('')).status, 202);
    assert.equal((await send('{}')).status, 415);
    assert.deepEqual(await requests(world), { 'a#readiness': 1, 'a#liveness': 1, 'b#readiness': 1 });
  });

  test('by container and type asks for those only, and counts each time', async () => {
    const world = await registered();
    await world.request('POST', `${path}/probe`, { body: { container: 'a' } });
    await world.request('POST', `${path}/probe`, { body: { probeType: 'readiness' } });
    await world.request('POST', `${path}/probe`, { body: { container: 'a', probeType: 'liveness' } });
    assert.deepEqual(await requests(world), { 'a#readiness': 2, 'a#liveness': 2, 'b#readiness': 1 });
  });

  test('grows neither generation nor resourceVersion', async () => {
    const world = await registered();
    await world.request('POST', `${path}/probe`);
    assert.equal((await world.request('GET', path)).headers.get('etag'), '"1"');
  });

  test('with dryRun asks for nothing', async () => {
    const world = await registered();
    assert.equal((await world.request('POST', `${path}/probe?dryRun=true`)).status, 202);
    assert.deepEqual(await requests(world), {});
  });

  const bad: readonly (readonly [what: string, body: unknown, pointer: string])[] = [
    ['an unknown container', { container: 'x' }, '/container'],
    ['a container without probes', { container: 'c' }, '/container'],
    ['a type that is not probed', { container: 'b', probeType: 'startup' }, '/probeType'],
    ['a type that is none', { probeType: 'health' }, '/probeType'],
    ['an unknown field', { probe: 'a' }, '/probe'],
  ];
  for (const [what, wanted, pointer] of bad)
    test(`for ${what} is 422`, async () => {
      const world = await registered();
      const response = await world.request('POST', `${path}/probe`, { body: wanted });
      assert.equal(response.status, 422);
      assert.partialDeepStrictEqual(await response.json(), { errors: [{ pointer }] });
      assert.deepEqual(await requests(world), {});
    });

  test('of an unknown target is 404', async () =>
    assert.equal((await apiWorld().request('POST', `${path}/probe`)).status, 404));
});
